/** Methods that change nothing, of strings, arrays, dates, maps and numbers alike. */
export const PURE_METHODS: ReadonlySet<string> = new Set(
  `at charAt charCodeAt codePointAt concat endsWith entries filter find findIndex findLast findLastIndex flat flatMap
  get getDate getDay getFullYear getHours getMilliseconds getMinutes getMonth getSeconds getTime getTimezoneOffset getUTCDate
  getUTCDay getUTCFullYear getUTCHours getUTCMinutes getUTCMonth getUTCSeconds has includes indexOf join keys lastIndexOf
  localeCompare map match matchAll normalize padEnd padStart reduce reduceRight repeat replace replaceAll search slice some every
  split startsWith substring test exec toFixed toISOString toJSON toLocaleDateString toLocaleLowerCase toLocaleString
  toLocaleTimeString toLocaleUpperCase toLowerCase toPrecision toReversed toSorted toSpliced toString toUpperCase trim trimEnd
  trimStart valueOf values with`.split(/\s+/),
);

/** Functions of the language that change nothing. */
export const PURE_GLOBALS: ReadonlySet<string> = new Set(
  `Array.from Array.isArray Array.of BigInt Boolean Date.now Date.parse Date.UTC Intl.NumberFormat JSON.parse JSON.stringify
  Math.abs Math.ceil Math.floor Math.max Math.min Math.pow Math.random Math.round Math.sign Math.sqrt Math.trunc Number
  Number.isFinite Number.isInteger Number.isNaN Number.parseFloat Number.parseInt Object.assign Object.entries
  Object.fromEntries Object.groupBy Object.hasOwn Object.keys Object.values String atob btoa decodeURIComponent
  encodeURIComponent isFinite isNaN parseFloat parseInt structuredClone`.split(/\s+/),
);

export const CONSTRUCTORS: ReadonlySet<string> = new Set(
  `Date Error Map RangeError RegExp Set TypeError URL URLSearchParams Array`.split(/\s+/),
);

/** Methods that change the object they are called on. */
export const MUTATING_METHODS: ReadonlySet<string> = new Set(
  `push unshift add set splice pop shift sort reverse delete clear append fill`.split(/\s+/),
);

/** Operations that turn a text into a value of another type; a literal in them is the value itself. */
export const CONVERSIONS: ReadonlySet<string> = new Set([
  "new Date",
  "new URL",
  "Number",
  "String",
  "BigInt",
  "parseInt",
  "parseFloat",
  "Date.parse",
  "JSON.parse",
]);
