// @ts-check

/**
 * Makes of the program's expression a function that evaluates it, so that nothing of a program runs before the guest's
 * runtime is there to catch what it throws. The gateway knows that the first line is this much longer.
 * @param {string} code
 */
export const wrapProgram = (code) => `() => (${code}\n)`;
