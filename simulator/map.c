/* map.c: see map.h.  The plane is that of the two largest principal components: classical scaling
   of the weighted inner products around the centre, by Jacobi's rotations. */
#include "simulator/map.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void map_weights(struct map *m, const int *kind)
{
    int members[MAP_MOST] = {0}, kinds = 0;
    for (int i = 0; i < m->count; i++)
        kinds += members[kind[i]]++ == 0;
    for (int i = 0; i < m->count; i++)
        m->weight[i] = 1.0 / kinds / members[kind[i]];
}

static bool measurable(int count, const double *const *runs, const double (*exact)[2],
                       const double *unit, int64_t e)
{
    bool sound = isfinite(exact[e][0]) && unit[e] > 0 && isfinite(unit[e]);
    for (int i = 0; i < count; i++)
        sound = sound && isfinite(runs[i][e]);
    return sound;
}

void map_measure(struct map *m, int count, const double *const *runs, const double (*exact)[2],
                 const double *unit, int64_t n)
{
    assert(count <= MAP_MOST);
    memset(m, 0, sizeof *m);
    m->count = count;
    for (int64_t e = 0; e < n; e++) {
        if (!measurable(count, runs, exact, unit, e)) {
            m->left_out++;
            continue;
        }
        m->elements++;
        for (int i = 0; i < count; i++) {
            double off = ((runs[i][e] - exact[e][0]) - exact[e][1]) / unit[e];
            m->to_exact[i] += off * off;
            for (int j = 0; j < i; j++) {
                double between = (runs[i][e] - runs[j][e]) / unit[e];
                m->apart[i][j] += between * between;
            }
        }
    }
    double elements = m->elements > 0 ? (double)m->elements : 1;
    for (int i = 0; i < count; i++) {
        m->to_exact[i] = sqrt(m->to_exact[i] / elements);
        for (int j = 0; j < i; j++)
            m->apart[i][j] = m->apart[j][i] = sqrt(m->apart[i][j] / elements);
    }
}

static double square(double x)
{
    return x * x;
}

/* d_i^2 = sum_j w_j D_ij^2 - 1/2 sum_jk w_j w_k D_jk^2, with run `out` left out (-1: none), whose
   weight goes to the others in proportion. */
static void distances_to_centre(const struct map *m, int out, double *d2)
{
    double left = 0, inner = 0;
    for (int i = 0; i < m->count; i++)
        left += i == out ? 0 : m->weight[i];
    for (int i = 0; i < m->count; i++) {
        d2[i] = 0;
        for (int j = 0; j < m->count && left > 0; j++)
            d2[i] += j == out ? 0 : m->weight[j] / left * square(m->apart[i][j]);
        inner += i == out || left <= 0 ? 0 : m->weight[i] / left * d2[i] / 2;
    }
    for (int i = 0; i < m->count; i++)
        d2[i] = d2[i] > inner ? d2[i] - inner : 0;
}

static int nearest_of(const struct map *m, int out, const double *d2)
{
    int best = -1;
    for (int i = 0; i < m->count; i++)
        if (i != out && (best < 0 || d2[i] < d2[best]))
            best = i;
    return best;
}

static void find_centre(struct map *m)
{
    double d2[MAP_MOST], without[MAP_MOST], R2 = 0, bias = 0;
    distances_to_centre(m, -1, d2);
    for (int i = 0; i < m->count; i++) {
        m->to_centre[i] = sqrt(d2[i]);
        R2 += m->weight[i] * d2[i];
        bias += m->weight[i] * square(m->to_exact[i]);
    }
    m->spread = sqrt(R2);
    m->exact_to_centre = bias > R2 ? sqrt(bias - R2) : 0;
    m->nearest = nearest_of(m, -1, d2);
    int second = nearest_of(m, m->nearest, d2);
    m->margin = second < 0 ? 0 : m->to_centre[second] - m->to_centre[m->nearest];
    for (int i = 0; i < m->count; i++) {
        distances_to_centre(m, i, without);
        m->without[i] = nearest_of(m, i, without);
    }
}

/* One of Jacobi's rotations: a[p][q] becomes 0; the rotation is gathered in v. */
static void rotate(int n, double a[MAP_MOST][MAP_MOST], double v[MAP_MOST][MAP_MOST], int p, int q)
{
    if (a[p][q] == 0)
        return;
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        double x = a[p][k], y = a[q][k], z = v[k][p], w = v[k][q];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
        v[k][p] = c * z - s * w;
        v[k][q] = s * z + c * w;
    }
}

static void eigenvectors(int n, double a[MAP_MOST][MAP_MOST], double v[MAP_MOST][MAP_MOST])
{
    enum { SWEEPS = 60 };
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            v[i][j] = i == j;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                rotate(n, a, v, p, q);
}

/* The two largest of n, -1 where there are not so many. */
static void two_largest(int n, double a[MAP_MOST][MAP_MOST], int *first, int *second)
{
    *first = *second = -1;
    for (int i = 0; i < n; i++) {
        if (*first < 0 || a[i][i] > a[*first][*first]) {
            *second = *first;
            *first = i;
        } else if (*second < 0 || a[i][i] > a[*second][*second]) {
            *second = i;
        }
    }
}

/* Turns the plane: the first run that is off the centre on +x, the next one that is off the axis
   above it. */
static void turn(struct map *m, double small)
{
    double angle = 0, flip = 1;
    int first = 0;
    while (first < m->count && hypot(m->x[first], m->y[first]) <= small)
        first++;
    if (first < m->count)
        angle = atan2(m->y[first], m->x[first]);
    double c = cos(angle), s = sin(angle);
    double *xs[2] = {m->x, &m->exact_x}, *ys[2] = {m->y, &m->exact_y};
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < (part == 0 ? m->count : 1); i++) {
            double x = xs[part][i], y = ys[part][i];
            xs[part][i] = c * x + s * y;
            ys[part][i] = c * y - s * x;
        }
    if (first < m->count)
        m->y[first] = 0;
    for (int i = first + 1; i < m->count && flip > 0; i++)
        if (fabs(m->y[i]) > small) {
            flip = m->y[i] < 0 ? -1 : 1;
            break;
        }
    for (int i = 0; i < m->count; i++)
        m->y[i] *= flip;
    m->exact_y *= flip;
}

/* Coordinates k of runs and exact result on an axis of variance lambda. */
static void project(const struct map *m, double lambda, const double *vector, double *x,
                    double *exact)
{
    *exact = 0;
    for (int i = 0; i < m->count; i++) {
        x[i] = vector[i] * sqrt(lambda / m->weight[i]);
        double inner =
            -(square(m->to_exact[i]) - square(m->to_centre[i]) - square(m->exact_to_centre)) / 2;
        *exact += m->weight[i] * inner * x[i] / lambda;
    }
}

static void find_plane(struct map *m)
{
    double a[MAP_MOST][MAP_MOST], v[MAP_MOST][MAP_MOST], vector[MAP_MOST], all = 0;
    int axis[2], n = m->count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = -sqrt(m->weight[i] * m->weight[j]) *
                      (square(m->apart[i][j]) - square(m->to_centre[i]) - square(m->to_centre[j])) /
                      2;
    eigenvectors(n, a, v);
    two_largest(n, a, &axis[0], &axis[1]);
    for (int i = 0; i < n; i++)
        all += a[i][i] > 0 ? a[i][i] : 0;
    double small = all * 1e-12, shown = 0;
    for (int i = 0; i < n; i++)
        m->axes += a[i][i] > small && all > 0;
    for (int k = 0; k < 2; k++) {
        if (axis[k] < 0 || !(a[axis[k]][axis[k]] > small))
            continue;
        for (int i = 0; i < n; i++)
            vector[i] = v[i][axis[k]];
        project(m, a[axis[k]][axis[k]], vector, k == 0 ? m->x : m->y,
                k == 0 ? &m->exact_x : &m->exact_y);
        shown += a[axis[k]][axis[k]];
    }
    m->explained = all > 0 ? fmin(1, shown / all) : 1;
    turn(m, m->spread * 1e-9);
    for (int i = 0; i < n; i++) {
        double part = square(m->x[i]) + square(m->y[i]), whole = square(m->to_centre[i]);
        m->quality[i] = whole > square(m->spread) * 1e-18 ? fmin(1, part / whole) : 1;
    }
}

void map_finish(struct map *m)
{
    find_centre(m);
    m->axes = 0;
    find_plane(m);
}

/* Its inner products with the runs, b_i = (d_i^2 - d(i)^2) / 2 and a constant, which the centred
   coordinates drop, projected: the least squares of sum w (x_i x + y_i y - b_i)^2. */
void map_place(const struct map *m, const double *to_runs, double *x, double *y)
{
    double xx = 0, xy = 0, yy = 0, bx = 0, by = 0;
    for (int i = 0; i < m->count; i++) {
        double b = (square(m->to_centre[i]) - square(to_runs[i])) / 2, w = m->weight[i];
        xx += w * square(m->x[i]);
        xy += w * m->x[i] * m->y[i];
        yy += w * square(m->y[i]);
        bx += w * b * m->x[i];
        by += w * b * m->y[i];
    }
    double whole = xx * yy - xy * xy;
    bool plane = whole > 1e-18 * square(xx + yy), line = !plane && xx + yy > 0;
    *x = plane ? (yy * bx - xy * by) / whole : line && xx > 0 ? bx / xx : 0;
    *y = plane ? (xx * by - xy * bx) / whole : 0;
}
