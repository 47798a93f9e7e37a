// @ts-check
/**
 * The protocol between gateway and child: frames of a length (u32, little endian, of the rest), a type (one character)
 * and UTF-8 text.
 */
export const TO_CHILD = /** @type {const} */ ({
  /** `GoMessage`: run this program. */
  go: "G",
  /** Prepare one more isolate while idle. */
  prepare: "P",
  /** `AnswerMessage`: the answer to one call. */
  answer: "T",
});

export const FROM_CHILD = /** @type {const} */ ({
  /** An isolate is ready for the next run. */
  ready: "K",
  /** The child has begun its run. */
  begun: "B",
  /**
   * The guest's actions in order, one JSON array per line. Names are separate elements, so that no name can be read as
   * two others; `node` may be null, `namespace` too.
   *
   *     ["tool", id, node, loop, server, tool, arguments]
   *     ["capability", id, node, loop, namespace, action, arguments]
   *     ["sleep", id, node, loop, milliseconds]
   *     ["decided", node, loop, outcome]
   *     ["logged", level, text]
   */
  messages: "M",
  /** A warning that does not end the run. */
  warning: "W",
  /** `EngineStats`, just before the end of the run. */
  stats: "S",
  /** The program's return value, as JSON. */
  returned: "R",
  /** An `AnswerError` and its `stack`. */
  threw: "E",
  /** `[limit]`, or `[limit, found]` where the value is known. */
  limit: "F",
});
