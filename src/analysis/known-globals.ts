const LANGUAGE = `Array ArrayBuffer AsyncDisposableStack AggregateError Atomics BigInt BigInt64Array BigUint64Array Boolean DataView
Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array
Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set
SharedArrayBuffer String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array
Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly arguments decodeURI decodeURIComponent encodeURI encodeURIComponent
escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape`;

const SANDBOX = `AbortController AbortSignal TextDecoder TextEncoder URL URLSearchParams atob btoa clearTimeout console crypto
queueMicrotask setTimeout sleep structuredClone`;

/**
 * Globals of other runtimes, absent here. A program that uses one gets an error from the sandbox instead of a new
 * parameter.
 */
const OTHER_RUNTIMES = `Blob Buffer Bun Deno Event EventTarget File FormData Headers ReadableStream Request Response WebSocket Worker
XMLHttpRequest __dirname __filename alert clearImmediate clearInterval document exports fetch global localStorage module
navigator performance process prompt require self sessionStorage setImmediate setInterval window`;

/** Names that need no declaration and are not parameters. */
export const KNOWN_GLOBALS: ReadonlySet<string> = new Set(
  [LANGUAGE, SANDBOX, OTHER_RUNTIMES].flatMap((names) => names.split(/\s+/)),
);
