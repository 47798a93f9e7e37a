/** Ends every answer to a complete request: 'Z', length 5, then I (idle), T (in transaction) or E (failed). */
const READY_FOR_QUERY = [0x5a, 0, 0, 0, 5];
const STATUS_FAILED = "E".charCodeAt(0);
const STATUS_IDLE = "I".charCodeAt(0);

/** True if an extra statement does no harm: not in the middle of an extended request or in a failed transaction. */
export function mayRunStatement(answer: Uint8Array): boolean {
  return isComplete(answer) && answer.at(-1) !== STATUS_FAILED;
}

/** True outside of a transaction, which an error of an extra statement would abort. */
export function isIdle(answer: Uint8Array): boolean {
  return isComplete(answer) && answer.at(-1) === STATUS_IDLE;
}

/** An error message has fields, each a letter and a text that ends with a zero byte: V is severity, M the text. */
const DEATH = /V(?:PANIC|FATAL)\0[^]*?\0M([^\0]*)/;

/** Returns the reason if the engine has died: its last answer is a PANIC or FATAL error instead of ReadyForQuery. */
export function findEngineDeath(answer: Uint8Array): string | undefined {
  if (isComplete(answer)) return undefined;
  return DEATH.exec(Buffer.from(answer).toString("latin1"))?.[1];
}

function isComplete(answer: Uint8Array): boolean {
  const tail = answer.subarray(-READY_FOR_QUERY.length - 1);
  return READY_FOR_QUERY.every((byte, index) => tail[index] === byte);
}
