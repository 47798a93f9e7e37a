// @ts-check
/**
 * What the gateway and a child say to each other: frames of a length (u32, little endian, of what follows it), a type
 * (one character) and UTF-8 text.
 */
export const TO_CHILD = /** @type {const} */ ({
  /** `GoMessage`: run this. */
  go: "G",
  /** Make one more isolate ready: there is time for it. */
  prepare: "P",
  /** `AnswerMessage`: what one call gave. */
  answer: "T",
});

export const FROM_CHILD = /** @type {const} */ ({
  /** An isolate is ready for the next run. */
  ready: "K",
  /** The run that was handed over has begun. */
  begun: "B",
  /**
   * What the guest did, in order, one JSON array a line. Names travel apart from each other, so that none can be read as
   * two others; `node` may be null, `namespace` too.
   *
   *     ["tool", id, node, loop, server, tool, arguments]
   *     ["capability", id, node, loop, namespace, action, arguments]
   *     ["sleep", id, node, loop, milliseconds]
   *     ["decided", node, loop, outcome]
   *     ["logged", level, text]
   */
  messages: "M",
  /** A sentence about something odd that did not end the run. */
  warning: "W",
  /** `EngineStats`, just before the run's end. */
  stats: "S",
  /** The program's value, as JSON. */
  returned: "R",
  /** An `AnswerError` and its `stack`. */
  threw: "E",
  /** `[limit]`, or `[limit, found]` where it is known by how much. */
  limit: "F",
});
