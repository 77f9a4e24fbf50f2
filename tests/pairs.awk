# pairs.awk: the steps of a listing or a kernel in the order of its calls, one a line, repetitions
# left out.  A step is STEP_X in a listing; in a kernel (labels=1) a word of a comment that names one.
# usage: awk -v entries="f g" -v steps="QK SCALE ..." [-v labels=1] [-v leave_out="h"] \
#            [-v callback=x -v called=f] -f pairs.awk FILES      x( is a call of f
BEGIN {
    count = split(steps, list, " ")
    for (i = 1; i <= count; i++) step[list[i]] = 1
    count = split(leave_out, list, " ")
    for (i = 1; i <= count; i++) hidden[list[i]] = 1
}
# A definition begins in column 0, its body is between lines that are one brace.
/^[a-z].*\(/ && !/;$/ {
    name = $0
    sub(/__launch_bounds__\([^)]*\)/, "", name)
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if ($0 ~ /__global__/) kernels = kernels " " name
}
/^ +[a-z_0-9]*kernel\(/ { name = $1; sub(/\(.*/, "", name); kernels = kernels " " name }
/^\{/ { inside = 1; next }
/^\}/ { inside = 0; next }
inside { body[name] = body[name] "\n" $0 }
/^#define [a-z_]+\(/ { next }

function show(word) {
    if (word != last && (word in step)) print word
    if (word in step) last = word
}
function label_words(comment,   n, words, i) {
    gsub(/[^A-Z_]/, " ", comment)
    n = split(comment, words, " ")
    for (i = 1; i <= n; i++) show(words[i])
}
# Walks a body: what comes first, a label or a call of a function that is known here.
function walk(f, depth,   text, word) {
    if (!(f in body) || (f in hidden) || depth > 8) return
    text = body[f]
    while (match(text, /\/\*[^*]*\*\/|STEP_[A-Z_]+|[a-z_][a-z_0-9]*(<[^()<>]*>)?\(/)) {
        word = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (word ~ /^\/\*/) {
            if (labels) label_words(word)
        } else if (word ~ /^STEP_/) {
            if (!labels) show(substr(word, 6))
        } else {
            sub(/[<(].*/, "", word)
            walk(word == callback ? called : word, depth + 1)
        }
    }
}
END {
    count = split(entries == "" ? kernels : entries, list, " ")
    for (i = 1; i <= count; i++) walk(list[i], 0)
}
