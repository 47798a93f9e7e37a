// @ts-check
import { AbortController, AbortSignal, createTimeout } from "./abort.mjs";
import { atob, btoa, TextDecoder, TextEncoder } from "./encoding.mjs";
import { structuredClone } from "./structured-clone.mjs";
import { URL } from "./url.mjs";
import { URLSearchParams } from "./url-search-params.mjs";

/**
 * What agents expect of a web platform, as far as it needs neither files nor a network.
 * @param {(ms: number) => Promise<unknown>} sleep
 * @returns {Readonly<Record<string, unknown>>}
 */
export function createWebGlobals(sleep) {
  Object.assign(AbortSignal, { timeout: createTimeout(sleep) });
  return { AbortController, AbortSignal, TextDecoder, TextEncoder, URL, URLSearchParams, atob, btoa, structuredClone };
}
