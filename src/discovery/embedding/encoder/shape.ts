/** Sizes of all-MiniLM-L6-v2, the one model this encoder computes. */
export const LAYERS = 6;
export const WIDTH = 384;
export const HEADS = 12;
export const HEAD_WIDTH = WIDTH / HEADS;
/** A row holds query, key and value of a token. */
export const PROJECTED_WIDTH = 3 * WIDTH;
export const INNER_WIDTH = 1536;

/** Limit for a text, and for all texts of one pass. */
export const MOST_TOKENS = 256;

export const FLOAT_BYTES = 4;
export const SHORT_BYTES = 2;

/** Range of 16-bit activations, which have a factor per token. */
export const ACTIVATION_RANGE = 4095;
/** Bytes per row of activations, for the widest layer. */
export const ACTIVATION_STRIDE = INNER_WIDTH * SHORT_BYTES;
/** Bytes per row of a head's scores: not a power of two, or rows would share cache lines. */
export const SCORE_STRIDE = (MOST_TOKENS + 8) * FLOAT_BYTES;
