"""Writes attention_golden.def: attention by definition on small random problems, 30 digits.

Independent of the C sources: fractions for dot products and means, mpmath (120 digits) for the rest.
    python3 make_attention_golden.py > attention_golden.def        (needs mpmath; seed fixed)
Row: GOLDEN(D, Nq, Nk, query, scale, root, softcap, causal, top_left, left, right, q, k, v, lse, o);
lse and o in the notation of certified.h, one o per column.
"""
import random
import struct
from collections import defaultdict
from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 120
DIGITS = 30


def number(x):
    return repr(x)[:-2] if repr(x).endswith(".0") else repr(x)


def bf16(x):
    word = struct.unpack("<I", struct.pack("<f", x))[0]
    word = (word + 0x7FFF + (word >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", word))[0]


def fp32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def show(x, exact):
    """x: mpf, or Fraction when known exactly."""
    if x == 0:
        return "0"
    sign, x = ("-" if x < 0 else ""), abs(x)
    if not exact:
        x = Fraction(int(mp.floor(x * mpf(2) ** 600)), 2 ** 600)
    e = 0
    while x >= Fraction(10) ** (e + 1):
        e += 1
    while x < Fraction(10) ** e:
        e -= 1
    scaled = x * Fraction(10) ** (DIGITS - 1 - e)
    m = round(scaled)
    if m == 10 ** DIGITS:
        m, e = m // 10, e + 1
    digits = str(m)
    if exact and scaled == m:
        digits = digits.rstrip("0")
    if not -5 <= e < DIGITS:
        return sign + digits[0] + ("." if digits[1:] else "") + digits[1:] + "e%d" % e
    if e < 0:
        return sign + "0." + "0" * (-e - 1) + digits
    digits = digits.ljust(e + 1, "0")
    return sign + digits[:e + 1] + ("." if digits[e + 1:] else "") + digits[e + 1:]


def visible(p, c):
    last = p["r"] + (0 if p["top_left"] else p["Nk"] - p["Nq"])
    if p["causal"] and c > last:
        return False
    if p["left"] >= 0 and c < last - p["left"]:
        return False
    return not (p["right"] >= 0 and c > last + p["right"])


def solve(p):
    groups = defaultdict(list)
    for c in range(p["Nk"]):
        if visible(p, c):
            dot = sum(Fraction(a) * Fraction(b) for a, b in zip(p["q"][p["r"]], p["k"][c]))
            groups[dot if p["scale"] else Fraction(0)].append(c)
    if not groups:
        return "-inf", ["0"] * p["D"]

    def score(dot):
        s = mpf(p["scale"]) * mpf(dot.numerator) / dot.denominator / mp.sqrt(p["root"])
        return p["softcap"] * mp.tanh(s / p["softcap"]) if p["softcap"] else s
    weight = {dot: mp.exp(score(dot)) for dot in groups}
    total = sum(weight[g] * len(groups[g]) for g in groups)
    output = []
    for d in range(p["D"]):
        sums = {g: sum(Fraction(p["v"][c][d]) for c in groups[g]) for g in groups}
        means = {sums[g] / len(groups[g]) for g in groups}
        if len(means) == 1:
            output.append(show(means.pop(), True))
        else:
            output.append(show(sum(weight[g] * mpf(sums[g].numerator) / sums[g].denominator
                                   for g in groups) / total, False))
    only = next(iter(groups)) if sum(map(len, groups.values())) == 1 else None
    root = round(p["root"] ** 0.5)
    if only is not None and root * root == p["root"] and (not p["softcap"] or only == 0):
        return show(Fraction(p["scale"]) * only / root, True), output
    return show(mp.log(total), False), output


def problem(random, n):
    D, Nq, Nk = random.randint(1, 4), random.randint(1, 5), random.randint(0 if n % 20 == 0 else 1, 8)
    family = n % 5
    draw = [lambda: bf16(random.gauss(0, 1)), lambda: float(random.randint(-2, 2)),
            lambda: fp32(random.gauss(0, 1) * 2.0 ** random.randint(-30, 4)),
            lambda: random.randint(-8, 8) / 4, lambda: bf16(random.gauss(0, 4))][family]
    p = {"D": D, "Nq": Nq, "Nk": Nk, "r": random.randrange(Nq)}
    p["scale"], p["root"] = random.choice([(1.0, D), (1.0, D), (1.0, 1), (-0.5, 1), (0.0, 1), (0.125, 3)])
    p["softcap"] = random.choice([0, 0, 0, 5.0, 1.5])
    p["causal"], p["top_left"] = random.random() < 0.5, random.random() < 0.3
    p["left"] = random.choice([-1, -1, 0, 2])
    p["right"] = 0 if p["causal"] else random.choice([-1, -1, 1])
    p["q"] = [[draw() for _ in range(D)] for _ in range(Nq)]
    p["k"] = [[draw() for _ in range(D)] for _ in range(Nk)]
    p["v"] = [[draw() for _ in range(D)] for _ in range(Nk)]
    return p


def main():
    source = random.Random(2718)
    print("/* Written by make_attention_golden.py (mpmath, fractions); do not edit. */")
    for n in range(120):
        p = problem(source, n)
        lse, output = solve(p)
        flat = {m: " ".join(number(x) for row in p[m] for x in row) for m in "qkv"}
        print('GOLDEN(%d, %d, %d, %d, %r, %d, %r, %d, %d, %d, %d,\n       "%s",\n       "%s",\n       "%s",\n'
              '       "%s", "%s")' % (p["D"], p["Nq"], p["Nk"], p["r"], p["scale"], p["root"], p["softcap"],
                                    p["causal"], p["top_left"], p["left"], p["right"], flat["q"], flat["k"],
                                    flat["v"], lse, " ".join(output)))


main()
