// @ts-check
import { apply, cut, freeze, mapGet, mapSet } from "./intrinsics.mjs";

/** Nesting depth from which iterations share one path: a recursion would make endless ones. */
const MAX_PATH_DEPTH = 64;
const MAX_OUTCOME = 200;

/**
 * One iteration of a loop, or one invocation of a function. The program only passes it on. Its text is built on the
 * first report from inside, and its counters are collected with it.
 * @typedef {{ parent: Place | undefined, depth: number, step: string, counts: Map<string, number> | undefined }} Place
 */

/**
 * Creates `__pml`, through which instrumented programs report.
 * @param {import("./channel.mjs").Channel} channel @param {import("./tool-globals.mjs").ToolGlobals} toolGlobals
 */
export function createMarks(channel, toolGlobals) {
  /** @type {Place} */
  const top = { parent: undefined, depth: 0, step: "", counts: undefined };
  /** @param {Place | ""} path */
  const placeOf = (path) => (path === "" ? top : path);
  /** @param {string} node @param {Place | ""} path */
  const siteOf = (node, path) => ({ node, loop: pathText(placeOf(path)) });
  return freeze({
    /** @param {string} node @param {Place | ""} path @param {unknown} callee */
    call(node, path, callee) {
      const located = toolGlobals.findLocated(callee);
      // A function of the program, or nothing: `mcp.a?.b?.()` must see undefined there.
      if (located === undefined) return callee;
      const site = siteOf(node, path);
      /** @param {unknown[]} args */
      return (...args) => located(site, args);
    },
    /** @template T @param {string} node @param {Place | ""} path @param {T} test */
    decide(node, path, test) {
      channel.decided(siteOf(node, path), test ? "true" : "false");
      return test;
    },
    /** @template T @param {string} node @param {Place | ""} path @param {T} left */
    nullish(node, path, left) {
      channel.decided(siteOf(node, path), left === null || left === undefined ? "true" : "false");
      return left;
    },
    /** @param {string} node @param {Place | ""} path @param {string} outcome */
    took: (node, path, outcome) => channel.decided(siteOf(node, path), cut(outcome, MAX_OUTCOME)),
    /** @param {string} id @param {Place | ""} path @returns {Place} */
    loop(id, path) {
      const parent = placeOf(path);
      if (parent.depth === MAX_PATH_DEPTH) return parent;
      parent.counts ??= new Map();
      const index = apply(mapGet, parent.counts, [id]) ?? 0;
      apply(mapSet, parent.counts, [id, index + 1]);
      return { parent, depth: parent.depth + 1, step: `${id}:${index}`, counts: undefined };
    },
  });
}

/** @param {Place} place @returns {string} */
function pathText({ parent, step }) {
  if (parent === undefined || parent.parent === undefined) return step;
  return `${pathText(parent)}/${step}`;
}
