// @ts-check

/**
 * Wraps the program's expression in a function, so that nothing of a program runs before the guest's runtime can catch
 * its errors. The gateway subtracts the added columns from positions in the first line.
 * @param {string} code
 */
export const wrapProgram = (code) => `() => (${code}\n)`;
