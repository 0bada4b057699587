/* Heat on a plate: Jacobi iterations on a square grid until the change is small.
 * The program that `iolag check` compiles: short, with the loops, arrays and formats of everyday numerics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 64
#define STEPS_MAX 20000
#define TOLERANCE 1.0e-6

typedef struct {
    double value[POINTS][POINTS];
} plate;

typedef struct {
    int steps;
    double change;
    double mean;
} result;

static double magnitude(double x)
{
    return x < 0.0 ? -x : x;
}

static void set_boundary(plate *p)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < POINTS; i++) {
        double along = (double)i / (POINTS - 1);
        p->value[0][i] = 100.0 * along;
        p->value[POINTS - 1][i] = 100.0 * (1.0 - along);
        p->value[i][0] = 25.0 * along * (1.0 - along);
        p->value[i][POINTS - 1] = 50.0;
    }
}

static double relax(const plate *from, plate *to)
{
    double largest = 0.0;
    for (int i = 1; i < POINTS - 1; i++) {
        for (int j = 1; j < POINTS - 1; j++) {
            double next = 0.25 * (from->value[i - 1][j] + from->value[i + 1][j]
                                  + from->value[i][j - 1] + from->value[i][j + 1]);
            double change = magnitude(next - from->value[i][j]);
            to->value[i][j] = next;
            if (change > largest)
                largest = change;
        }
    }
    return largest;
}

static double mean_of(const plate *p)
{
    double sum = 0.0;
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++)
            sum += p->value[i][j];
    return sum / (POINTS * POINTS);
}

static result solve(plate *here, plate *there)
{
    result r = {0, 0.0, 0.0};
    set_boundary(here);
    *there = *here;
    do {
        plate *swap;
        r.change = relax(here, there);
        swap = here;
        here = there;
        there = swap;
        r.steps++;
    } while (r.change > TOLERANCE && r.steps < STEPS_MAX);
    r.mean = mean_of(here);
    return r;
}

int main(void)
{
    plate *plates = malloc(2 * sizeof *plates);
    if (plates == NULL) {
        fprintf(stderr, "no memory for two plates of %d points\n", POINTS * POINTS);
        return EXIT_FAILURE;
    }
    result r = solve(&plates[0], &plates[1]);
    printf("steps %d, last change %.3e, mean %.6f\n", r.steps, r.change, r.mean);
    free(plates);
    return r.change > TOLERANCE ? EXIT_FAILURE : EXIT_SUCCESS;
}
