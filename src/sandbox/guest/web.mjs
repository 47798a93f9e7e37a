// @ts-check
import { AbortController, AbortSignal, createTimeout } from "./abort.mjs";
import { atob, btoa, TextDecoder, TextEncoder } from "./encoding.mjs";
import { structuredClone } from "./structured-clone.mjs";
import { URL } from "./url.mjs";
import { URLSearchParams } from "./url-search-params.mjs";

/**
 * Creates the parts of the web platform that need neither files nor a network.
 * @param {(ms: number) => Promise<unknown>} sleep
 * @returns {Readonly<Record<string, unknown>>}
 */
export function createWebGlobals(sleep) {
  Object.assign(AbortSignal, { timeout: createTimeout(sleep) });
  return { AbortController, AbortSignal, TextDecoder, TextEncoder, URL, URLSearchParams, atob, btoa, structuredClone };
}
