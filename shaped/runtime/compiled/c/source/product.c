/* Matrix products c = start + a b of REAL: `rows` by `depth` times `depth` by `columns`, with the strides of each.

   A product is computed in tiles of ROWS rows by two vectors of columns, which stay in registers while the depth passes
   by. What a tile reads of b lies in one panel of its width; b is copied there where its rows are not contiguous or are
   read often. An element is a sum in the order of the depth. `start` may be null (zeros), or have strides of 0.

   Included for each type, with REAL, INTEGER of its size, VECTOR, FMA, SUM and NAME defined. */

#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define WIDTH (2 * LANES)
#define COLUMNS 3 /* that are read side by side: the processor fetches few streams of memory ahead */
#define DEPTH 256 /* of a panel, so that it stays in the nearest cache */

static inline VECTOR NAME(load)(const REAL *from)
{
    VECTOR vector;
    memcpy(&vector, from, sizeof vector);
    return vector;
}

static inline void NAME(store)(REAL *to, VECTOR vector)
{
    memcpy(to, &vector, sizeof vector);
}

static inline VECTOR NAME(repeat)(REAL value)
{
    return value - (VECTOR){0};
}

static inline REAL NAME(sum_of_lanes)(VECTOR vector)
{
#ifdef SUM_float
    return SUM(vector);
#else
    REAL lanes[VECTOR_BYTES / sizeof(REAL)];
    NAME(store)(lanes, vector);
    for (int64_t half = LANES / 2; half > 0; half /= 2)
        for (int64_t lane = 0; lane < half; lane++)
            lanes[lane] += lanes[lane + half];
    return lanes[0];
#endif
}

/* `rows` is a constant wherever this is inlined, so that the sums are registers. */
static inline __attribute__((always_inline)) void NAME(tile)(
    const int rows, int64_t depth, const REAL *a, int64_t a_row, int64_t a_depth, const REAL *b, int64_t b_depth,
    const REAL *start, int64_t start_row, int64_t start_column, REAL *c, int64_t c_row)
{
    VECTOR sums[ROWS][2];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        if (start && start_column) {
            sums[i][0] = NAME(load)(start + i * start_row);
            sums[i][1] = NAME(load)(start + i * start_row + LANES);
        } else {
            sums[i][0] = sums[i][1] = NAME(repeat)(start ? start[i * start_row] : 0);
        }
    }
#pragma GCC unroll 1
    for (int64_t k = 0; k < depth; k++) {
        const VECTOR left = NAME(load)(b), right = NAME(load)(b + LANES);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            const VECTOR factor = NAME(repeat)(a[i * a_row]);
            sums[i][0] = FMA(factor, left, sums[i][0]);
            sums[i][1] = FMA(factor, right, sums[i][1]);
        }
        a += a_depth;
        b += b_depth;
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
        NAME(store)(c + i * c_row, sums[i][0]);
        NAME(store)(c + i * c_row + LANES, sums[i][1]);
    }
}

#define TILE_ARGUMENTS depth, a, a_row, a_depth, b, b_depth, start, start_row, start_column, c, c_row

static void NAME(whole_tile)(
    int64_t depth, const REAL *a, int64_t a_row, int64_t a_depth, const REAL *b, int64_t b_depth,
    const REAL *start, int64_t start_row, int64_t start_column, REAL *c, int64_t c_row)
{
    NAME(tile)(ROWS, TILE_ARGUMENTS);
}

static void NAME(tile_of_few_rows)(
    int64_t rows, int64_t depth, const REAL *a, int64_t a_row, int64_t a_depth, const REAL *b, int64_t b_depth,
    const REAL *start, int64_t start_row, int64_t start_column, REAL *c, int64_t c_row)
{
    switch (rows) {
    case 1: NAME(tile)(1, TILE_ARGUMENTS); break;
    case 2: NAME(tile)(2, TILE_ARGUMENTS); break;
    case 3: NAME(tile)(3, TILE_ARGUMENTS); break;
    case 4: NAME(tile)(4, TILE_ARGUMENTS); break;
    case 5: NAME(tile)(5, TILE_ARGUMENTS); break;
#if ROWS > 6
    case 6: NAME(tile)(6, TILE_ARGUMENTS); break;
    case 7: NAME(tile)(7, TILE_ARGUMENTS); break;
#endif
    }
}

/* Copy a square of LANES rows to columns: in each round, halves of the vectors change places. */
static inline void NAME(transpose)(const REAL *from, int64_t from_row, REAL *to, int64_t to_row)
{
#if defined(__GNUC__) && !defined(__clang__)
    typedef INTEGER lanes __attribute__((vector_size(VECTOR_BYTES)));
    VECTOR rows[VECTOR_BYTES / sizeof(REAL)];
    lanes numbers;
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) {
        numbers[i] = i;
        rows[i] = NAME(load)(from + i * from_row);
    }
#pragma GCC unroll 4
    for (int half = LANES / 2; half > 0; half /= 2) {
        const lanes is_upper = (numbers & half) != 0;
        const lanes lower = numbers + (is_upper & (INTEGER)(LANES - half));
        const lanes upper = numbers + half + (is_upper & (INTEGER)(LANES - half));
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            if (!(i & half)) {
                const VECTOR first = rows[i], second = rows[i + half];
                rows[i] = __builtin_shuffle(first, second, lower);
                rows[i + half] = __builtin_shuffle(first, second, upper);
            }
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        NAME(store)(to + i * to_row, rows[i]);
#else
    for (int64_t i = 0; i < LANES; i++)
        for (int64_t j = 0; j < LANES; j++)
            to[j * to_row + i] = from[i * from_row + j];
#endif
}

/* Copy up to WIDTH columns of b to a panel, and zeros for those that are missing. */
static void NAME(pack)(
    int64_t depth, int64_t columns, const REAL *b, int64_t b_depth, int64_t b_column, REAL *restrict panel)
{
    if (b_column == 1) {
        for (int64_t k = 0; k < depth; k++) {
            int64_t j = 0;
            for (; j < columns; j++)
                panel[k * WIDTH + j] = b[k * b_depth + j];
            for (; j < WIDTH; j++)
                panel[k * WIDTH + j] = 0;
        }
        return;
    }
    for (int64_t j = columns; j < WIDTH; j++)
        for (int64_t k = 0; k < depth; k++)
            panel[k * WIDTH + j] = 0;
    for (int64_t k = 0; k < depth; k += LANES) {
        const int64_t end = k + LANES < depth ? k + LANES : depth;
        int64_t j = 0;
        if (b_depth == 1 && end == k + LANES)
            for (; j + LANES <= columns; j += LANES)
                NAME(transpose)(b + k + j * b_column, b_column, panel + k * WIDTH + j, WIDTH);
        for (; j < columns; j++)
            for (int64_t l = k; l < end; l++)
                panel[l * WIDTH + j] = b[l * b_depth + j * b_column];
    }
}

/* A panel of columns, and a part of the depth: tile by tile. */
static inline void NAME(product_with_panel)(
    int64_t rows, int64_t depth, int64_t width, const REAL *a, int64_t a_row, int64_t a_depth,
    const REAL *b, int64_t b_depth, const REAL *start, int64_t start_row, int64_t start_column, REAL *c, int64_t c_row)
{
    for (int64_t i = 0; i < rows; i += ROWS) {
        const int64_t height = rows - i < ROWS ? rows - i : ROWS;
        const REAL *begin = start ? start + i * start_row : 0;
        REAL *to = c + i * c_row;
        REAL edge[ROWS * WIDTH]; /* for a tile that is wider than what is left of c */
        int64_t begin_row = start_row, to_row = c_row;
        if (width < WIDTH) {
            if (start && start_column) {
                for (int64_t row = 0; row < height; row++)
                    for (int64_t column = 0; column < WIDTH; column++)
                        edge[row * WIDTH + column] = column < width ? begin[row * start_row + column] : 0;
                begin = edge;
                begin_row = WIDTH;
            }
            to = edge;
            to_row = WIDTH;
        }
        if (height == ROWS)
            NAME(whole_tile)(depth, a + i * a_row, a_row, a_depth, b, b_depth, begin, begin_row, start_column, to, to_row);
        else
            NAME(tile_of_few_rows)(
                height, depth, a + i * a_row, a_row, a_depth, b, b_depth, begin, begin_row, start_column, to, to_row);
        if (width < WIDTH)
            for (int64_t row = 0; row < height; row++)
                for (int64_t column = 0; column < width; column++)
                    c[(i + row) * c_row + column] = edge[row * WIDTH + column];
    }
}

/* `panel` has room for DEPTH * WIDTH elements. The elements of a row of c are contiguous. */
static inline void NAME(product)(
    int64_t rows, int64_t depth, int64_t columns, const REAL *a, int64_t a_row, int64_t a_depth,
    const REAL *b, int64_t b_depth, int64_t b_column, const REAL *start, int64_t start_row, int64_t start_column,
    REAL *c, int64_t c_row, REAL *panel)
{
    for (int64_t j = 0; j < columns; j += WIDTH) {
        const int64_t width = columns - j < WIDTH ? columns - j : WIDTH;
        const int must_pack = b_column != 1 || width < WIDTH || rows > 2 * ROWS;
        const REAL *begin = start ? start + j * start_column : 0;
        int64_t begin_row = start_row, begin_column = start_column;
        for (int64_t k = 0; k < depth || k == 0; k += DEPTH) {
            const int64_t part = depth - k < DEPTH ? depth - k : DEPTH;
            const REAL *from = b + k * b_depth + j * b_column;
            if (must_pack)
                NAME(pack)(part, width, from, b_depth, b_column, panel);
            NAME(product_with_panel)(
                rows, part, width, a + k * a_depth, a_row, a_depth, must_pack ? panel : from,
                must_pack ? WIDTH : b_depth, begin, begin_row, begin_column, c + j, c_row);
            begin = c + j; /* the next part adds to this one */
            begin_row = c_row;
            begin_column = 1;
        }
    }
}

/* The product of few rows with columns that are contiguous, as are the rows: nothing is packed. */
static inline void NAME(product_by_dots)(
    int64_t rows, int64_t depth, int64_t columns, const REAL *a, int64_t a_row, const REAL *b, int64_t b_column,
    const REAL *start, int64_t start_row, int64_t start_column, REAL *c, int64_t c_row)
{
    const int64_t whole = depth - depth % LANES;
    for (int64_t i = 0; i < rows; i++) {
        const REAL *row = a + i * a_row;
        for (int64_t j = 0; j < columns; j += COLUMNS) {
            const int64_t width = columns - j < COLUMNS ? columns - j : COLUMNS;
            const REAL *column[COLUMNS];
            VECTOR sums[COLUMNS];
#pragma GCC unroll 8
            for (int l = 0; l < COLUMNS; l++) {
                column[l] = b + (j + (l < width ? l : 0)) * b_column;
                sums[l] = (VECTOR){0};
            }
            for (int64_t k = 0; k < whole; k += LANES) {
                const VECTOR left = NAME(load)(row + k);
#pragma GCC unroll 8
                for (int l = 0; l < COLUMNS; l++)
                    sums[l] = FMA(left, NAME(load)(column[l] + k), sums[l]);
            }
#pragma GCC unroll 8
            for (int l = 0; l < COLUMNS; l++) {
                if (l >= width)
                    break;
                REAL sum = NAME(sum_of_lanes)(sums[l]);
                for (int64_t k = whole; k < depth; k++)
                    sum += row[k] * column[l][k];
                c[i * c_row + j + l] = sum + (start ? start[i * start_row + (j + l) * start_column] : 0);
            }
        }
    }
}

#undef LANES
#undef WIDTH
#undef DEPTH
#undef COLUMNS
#undef TILE_ARGUMENTS
