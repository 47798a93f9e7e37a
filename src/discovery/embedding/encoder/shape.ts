/** The one model this encoder is for: all-MiniLM-L6-v2. */
export const LAYERS = 6;
export const WIDTH = 384;
export const HEADS = 12;
export const HEAD_WIDTH = WIDTH / HEADS;
/** Queries, keys and values of a token stand beside each other. */
export const PROJECTED_WIDTH = 3 * WIDTH;
export const INNER_WIDTH = 1536;

/** Tokens of a text, and of all texts that are encoded at once. */
export const MOST_TOKENS = 256;

export const FLOAT_BYTES = 4;
export const SHORT_BYTES = 2;

/** Activations are numbers of 16 bits within this range, with a factor for each token. */
export const ACTIVATION_RANGE = 4095;
/** From one row of activations to the next: as much as the longest needs. */
export const ACTIVATION_STRIDE = INNER_WIDTH * SHORT_BYTES;
/** From one row of a head's scores to the next: not a power of two, whose rows would share places in the cache. */
export const SCORE_STRIDE = (MOST_TOKENS + 8) * FLOAT_BYTES;
