/* test_map.c: distances, centre and plane of runs: a right triangle by hand, identities on random
   runs, orientation, what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "simulator/map.h"
#include "tests/random_problem.h"

enum { N = 12 };

static void equal(const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want))))
        fail_msg("%s: %.17g, expected %.17g", what, got, want);
}

static struct map map_of(int count, double runs[][N], const double (*exact)[2], const double *unit,
                         const int *kind)
{
    const double *rows[MAP_MOST];
    struct map m;
    for (int i = 0; i < count; i++)
        rows[i] = runs[i];
    map_measure(&m, count, rows, exact, unit, N);
    map_weights(&m, kind);
    map_finish(&m);
    return m;
}

/* Runs at (0, 0), (3, 0), (0, 4) in two elements, the others alike: sides 3, 4, 5 over sqrt(N). */
static void right_triangle(void **unused)
{
    (void)unused;
    double runs[3][N] = {{0}}, exact[N][2] = {{0}}, unit[N];
    const int kind[3] = {0, 1, 2};
    for (int e = 0; e < N; e++)
        unit[e] = 0.5;
    runs[1][0] = 1.5;
    runs[2][1] = 2;
    exact[0][0] = 0.5;
    exact[1][0] = 2.0 / 3;
    exact[2][0] = 1; /* 2 units out of the plane */
    struct map m = map_of(3, runs, exact, unit, kind);
    double root = sqrt(N);
    equal("side", m.apart[0][1], 3 / root);
    equal("side", m.apart[0][2], 4 / root);
    equal("hypotenuse", m.apart[2][1], 5 / root);
    equal("centre to the right angle", m.to_centre[0], hypot(1, 4.0 / 3) / root);
    equal("spread squared", m.spread * m.spread, (9.0 + 16 + 25) / 9 / N);
    equal("exact to centre", m.exact_to_centre, 2 / root);
    equal("explained", m.explained, 1);
    assert_true(m.axes == 2 && m.nearest == 0);
    equal("first run on +x", m.x[0], m.to_centre[0]);
    assert_true(m.y[0] == 0 && m.y[1] > 0 && m.y[2] < 0);
    equal("drawn as it is", hypot(m.x[1] - m.x[2], m.y[1] - m.y[2]), 5 / root);
    double x, y;
    for (int i = 0; i < 3; i++) { /* a run lies where it lies */
        map_place(&m, m.apart[i], &x, &y);
        equal("placed", x, m.x[i]);
        equal("placed", y, m.y[i]);
    }
    map_place(&m, m.to_exact, &x, &y);
    equal("the exact result", x, m.exact_x);
    equal("the exact result", y, m.exact_y);
    struct map line = map_of(2, runs, exact, unit, kind);
    map_place(&line, line.apart[1], &x, &y);
    assert_true(y == 0);
    equal("on a line", x, line.x[1]);
    equal("exact over the centre", m.exact_x, 0);
    equal("exact over the centre", m.exact_y, 0);
    assert_true(m.without[0] == 1 && m.without[1] == 0 && m.without[2] == 0);
}

/* The run nearest to the mean of all but `out`, element by element. */
static int nearest_without(const struct map *m, double runs[][N], const double *unit, int out)
{
    double centre[N] = {0}, left = 1 - m->weight[out], least = INFINITY;
    int best = -1;
    for (int i = 0; i < m->count; i++)
        for (int e = 0; e < N && i != out; e++)
            centre[e] += m->weight[i] / left * runs[i][e];
    for (int i = 0; i < m->count; i++) {
        double d2 = 0;
        for (int e = 0; e < N; e++)
            d2 += pow((runs[i][e] - centre[e]) / unit[e], 2);
        if (i != out && d2 < least) {
            least = d2;
            best = i;
        }
    }
    return best;
}

/* Against means over the elements themselves. */
static void identities(void **unused)
{
    (void)unused;
    static const int kinds[3][7] = {
        {0, 1, 2, 3, 4, 5, 6}, {0, 0, 0, 1, 2, 2, 1}, {0, 0, 0, 0, 0, 0, 0}};
    for (int n = 0; n < 300; n++) {
        uint64_t state = (uint64_t)n;
        int count = 1 + n % 7;
        double runs[7][N], exact[N][2], unit[N], centre[N] = {0}, R2 = 0, sum = 0, plane = 0;
        for (int e = 0; e < N; e++) {
            exact[e][0] = draw_normal(&state, 1);
            exact[e][1] = ldexp(exact[e][0], -60);
            unit[e] = exp(draw_normal(&state, 1));
            for (int i = 0; i < count; i++)
                runs[i][e] = exact[e][0] + draw_normal(&state, 1e-3) * unit[e];
        }
        struct map m = map_of(count, runs, exact, unit, kinds[n / 7 % 3]);
        for (int i = 0; i < count; i++)
            for (int e = 0; e < N; e++)
                centre[e] += m.weight[i] * runs[i][e];
        for (int i = 0; i < count; i++) {
            double d2 = 0;
            for (int e = 0; e < N; e++)
                d2 += pow((runs[i][e] - centre[e]) / unit[e], 2) / N;
            equal("distance to the centre", m.to_centre[i], sqrt(d2));
            R2 += m.weight[i] * d2;
            sum += m.weight[i] * m.to_exact[i] * m.to_exact[i];
            plane += m.weight[i] * (m.x[i] * m.x[i] + m.y[i] * m.y[i]);
            assert_true(m.quality[i] >= 0 && m.quality[i] <= 1);
        }
        equal("spread", m.spread, sqrt(R2));
        equal("bias and spread", m.exact_to_centre * m.exact_to_centre + R2, sum);
        equal("explained", R2 > 0 ? plane / R2 : 1, m.explained);
        assert_true(m.axes == (count - 1 < N ? count - 1 : N));
        if (count == 3) /* a triangle is exact in the plane */
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < i; j++)
                    equal("side", hypot(m.x[i] - m.x[j], m.y[i] - m.y[j]), m.apart[i][j]);
        for (int i = 0; i < count && count > 3; i++) /* of two runs left, both are as near */
            assert_int_equal(m.without[i], nearest_without(&m, runs, unit, i));
        if (count > 1)
            assert_true(m.x[0] >= 0 && m.y[0] == 0 && (count == 2 || m.y[1] >= 0));
    }
}

static void all_alike(void **unused)
{
    (void)unused;
    double runs[3][N] = {{0}}, exact[N][2] = {{0}}, unit[N];
    const int kind[3] = {0, 1, 1};
    for (int e = 0; e < N; e++) {
        unit[e] = e == 3 ? 0 : 1;
        exact[e][0] = e == 4 ? NAN : 0.25;
    }
    runs[1][5] = NAN;
    struct map m = map_of(3, runs, exact, unit, kind);
    assert_true(m.elements == N - 3 && m.left_out == 3);
    assert_true(m.axes == 0 && m.spread == 0 && m.explained == 1 && m.margin == 0);
    equal("all biased alike", m.exact_to_centre, 0.25);
    equal("half to each kind", m.weight[0], 0.5);
    equal("and a quarter to each of two", m.weight[2], 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_triangle),
        cmocka_unit_test(identities),
        cmocka_unit_test(all_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
