/* map.h: how far runs lie from each other, from their centre and from the exact result, and a plane
   in which that is seen.

   d(a, b)^2 is the mean over elements of ((a - b) / (u A))^2, u A = 2^-p sum pi |v|: roundoffs of the
   uncancelled sum, a Euclidean distance that cancellation does not blow up.  The centre is the
   weighted mean, in real arithmetic; distances to it follow from those between the runs.  The exact
   result is supplementary: it shapes neither centre nor plane.  Near the centre is not near the
   exact result. */
#ifndef FLASHULP_MAP_H
#define FLASHULP_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { MAP_MOST = 16 };

struct map {
    int count;
    int64_t elements, left_out; /* measured; not finite in some run or the exact result, or A = 0 */
    double weight[MAP_MOST];    /* adds up to 1 */
    double apart[MAP_MOST][MAP_MOST], to_exact[MAP_MOST];
    /* From here on by map_finish. */
    double to_centre[MAP_MOST], spread; /* spread R: R^2 = sum w d^2 */
    double exact_to_centre;             /* shared bias: sum w d(i, exact)^2 = this^2 + R^2 */
    int nearest;                        /* to the centre; the lower number where two are as near */
    double margin;                      /* by which the next one is farther */
    int without[MAP_MOST];              /* the nearest when run i is left out; -1: nobody is left */
    int axes;                           /* dimensions the runs span, at most count - 1 */
    double x[MAP_MOST], y[MAP_MOST];    /* of the centre's plane: first run on +x, second y >= 0 */
    double exact_x, exact_y;
    double explained; /* share of R^2 in the plane; 1 where there is nothing to explain */
    double
        quality[MAP_MOST]; /* share of a run's own distance from the centre that the plane shows */
};

/* Equal weight to each kind, then to the runs of one kind; kind[i] < count. */
void map_weights(struct map *m, const int *kind);

/* Distances of `count` runs of n elements: exact is high + low, unit[i] = u A of element i. */
void map_measure(struct map *m, int count, const double *const *runs, const double (*exact)[2],
                 const double *unit, int64_t n);
/* Everything that follows from weights and distances. */
void map_finish(struct map *m);
/* Where a supplementary point lies in the plane, from its distances to the runs. */
void map_place(const struct map *m, const double *to_runs, double *x, double *y);

#endif
