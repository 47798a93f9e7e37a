import {
  afterBracket,
  ASCII_WORD,
  CARRY_ON,
  CLOSERS,
  endsOperand,
  HEADS,
  kindOf,
  type Last,
  LINE_END,
  nestsRight,
  NUMBER,
  OPENERS,
  PREFIXES,
  PUNCTUATOR,
  REGEX,
  OTHER_SPACE,
  STRING,
  UPDATE,
  WORD,
  CODES,
  goesOn,
} from "./tokens.ts";
import {
  ANGLE,
  createLevel,
  type Level,
  LINK,
  MAX_CHECKED_LINE,
  MAX_LINE,
  MAX_NESTING,
  type NestingProblem,
  type NestingReport,
  resetLevel,
  weigh,
} from "./nesting-level.ts";

/**
 * Finds what would overrun the stack or the memory of the native parser, which would end the process: a walk over the
 * tokens that bounds from above how deep the syntax tree can get. It need not be right about the grammar, only never too low.
 */
export function scanNesting(source: string): NestingReport {
  const scan = new NestingScan(source);
  const problem = scan.run();
  return { problem, hasLongLine: scan.longestLine > MAX_CHECKED_LINE };
}

class NestingScan {
  readonly #source: string;
  #at = 0;
  #last: Last = "operator";
  #word = "";
  #newline = false;
  longestLine = 0;
  #lineStart = 0;
  #lineTokens = 0;
  #statementEnded = false;
  /** A statement can start here; and a name that did could be a label. */
  #start = true;
  #label = false;
  #outer = 0;
  #problem: NestingProblem | undefined;
  readonly #levels: Level[] = [];
  #level = createLevel("", false);

  constructor(source: string) {
    this.#source = source;
  }

  run(): NestingProblem | undefined {
    while (this.#problem === undefined && this.#at < this.#source.length) {
      if (!this.#token()) return this.#problem;
      this.#lineTokens += 1;
      if (this.#outer + this.#levels.length + weigh(this.#level) > MAX_NESTING) this.#fail("too_deep");
      this.longestLine = Math.max(this.longestLine, this.#lineTokens * (this.#at - this.#lineStart));
      if (this.longestLine > MAX_LINE) this.#fail("long_line");
    }
    return this.#problem;
  }

  #fail(reason: NestingProblem["reason"], at = this.#at): false {
    this.#problem = { offset: Math.min(at, this.#source.length - 1), reason };
    return false;
  }

  /** False where the parser gives up as well, so that nothing behind it matters. */
  #token(): boolean {
    this.#skipSpace();
    const character = this.#source[this.#at];
    if (character === undefined) return true;
    const closer = OPENERS[character];
    if (closer !== undefined) return this.#open(closer);
    if (CLOSERS.has(character)) return this.#close(character);
    if (character === '"' || character === "'") return this.#take(STRING) !== undefined && this.#operand();
    if (character === "/") return this.#slash();
    if (character === "`") {
      this.#at += 1;
      this.#link();
      return this.#template();
    }
    const word = this.#take(ASCII_WORD, WORD);
    return word === undefined ? this.#punctuator() : this.#atWord(word);
  }

  #skipSpace(): void {
    let code = this.#source.charCodeAt(this.#at);
    while (code === CODES.space || code === CODES.newLine) {
      this.#at += 1;
      if (code === CODES.newLine) this.#noteLines("\n");
      code = this.#source.charCodeAt(this.#at);
    }
    if (code < CODES.space || code > CODES.asciiEnd) this.#noteLines(this.#take(OTHER_SPACE) ?? "");
  }

  #noteLines(text: string): void {
    if (!LINE_END.test(text)) return;
    this.#newline = true;
    if (!text.includes("\n")) return;
    this.#lineStart = this.#at;
    this.#lineTokens = 0;
  }

  /** What a pattern finds here; the first is tried, and where the text may go on behind it, the second. */
  #take(pattern: RegExp, full?: RegExp): string | undefined {
    const start = this.#at;
    pattern.lastIndex = start;
    const found = pattern.test(this.#source); // `exec` would make a list of what was found
    const end = found ? pattern.lastIndex : start;
    if (full !== undefined && goesOn(this.#source.charCodeAt(end))) return this.#take(full);
    this.#at = end;
    return found ? this.#source.slice(start, end) : undefined;
  }

  #slash(): boolean {
    const next = this.#source[this.#at + 1];
    if (next === "/") return this.#skipTo(/(?=[\n\r\u2028\u2029])|$/g, this.#at);
    if (next === "*") {
      const start = this.#at;
      const closed = this.#skipTo(/\*\//g, this.#at + 2);
      this.#noteLines(this.#source.slice(start, this.#at));
      return closed;
    }
    if (this.#last === "operand") return this.#punctuator();
    const start = this.#at;
    const regex = this.#take(REGEX);
    if (this.#last === "operator") return regex !== undefined && this.#operand();
    // After a block a pattern, after an object a division: only the parser knows.
    this.#at = start;
    return regex === undefined ? this.#punctuator() : this.#fail("ambiguous_slash");
  }

  #skipTo(end: RegExp, from: number): boolean {
    end.lastIndex = from;
    const found = end.exec(this.#source);
    this.#at = found === null ? this.#source.length : found.index + found[0].length;
    return found !== null;
  }

  #template(): boolean {
    const pattern = /\\[^]|\$\{|`/g;
    pattern.lastIndex = this.#at;
    for (let found = pattern.exec(this.#source); found !== null; found = pattern.exec(this.#source)) {
      this.#at = pattern.lastIndex;
      if (found[0] === "`") return this.#operand();
      if (found[0] === "${") {
        this.#push("`", false);
        return true;
      }
    }
    return false;
  }

  #operand(): true {
    this.#begin("");
    this.#last = "operand";
    return true;
  }

  #atWord(word: string): true {
    if (this.#word === ".") return this.#operand();
    const afterElse = this.#word === "else";
    this.#begin(word);
    this.#word = word;
    this.#last = kindOf(word);
    if (HEADS.has(word) || word === "do") this.#hold(afterElse ? LINK : 1);
    else if (word === "else") this.#level.elses += LINK;
    else if (word === "case") this.#reset();
    else if (PREFIXES.has(word) || word === "await" || word === "yield") this.#level.pending += 1;
    this.#start = word === "else" || word === "do";
    return true;
  }

  #hold(weight: number): void {
    this.#level.held += weight;
    this.#level.pending += weight;
  }

  /** A token starts; a new statement starts with it where nothing else would be legal. */
  #begin(word: string): void {
    const ended = this.#last === "brace" || (this.#newline && this.#last === "operand");
    const fresh = ended && word !== "" && !CARRY_ON.has(word);
    if (fresh || (this.#statementEnded && word !== "else" && word !== "while")) this.#reset();
    this.#label = this.#start && word !== "";
    this.#start = false;
    this.#statementEnded = false;
    this.#newline = false;
    this.#word = "";
  }

  #reset(): void {
    resetLevel(this.#level);
    this.#start = true;
  }

  #link(): void {
    if (endsOperand(this.#last)) this.#level.pending += LINK;
  }

  #open(closer: string): boolean {
    this.#at += 1;
    const head = closer === ")" && HEADS.has(this.#word);
    this.#link();
    this.#begin("");
    this.#push(closer, head);
    return true;
  }

  #push(closer: string, head: boolean): void {
    this.#outer += weigh(this.#level);
    this.#levels.push(this.#level);
    this.#level = createLevel(closer, head);
    this.#last = "operator";
    this.#start = closer === "}";
  }

  #close(character: string): boolean {
    this.#at += 1;
    const { closer, head } = this.#level;
    const outer = this.#levels.pop();
    if (outer === undefined && character === "}") return this.#fail("stray_brace", this.#at - 1);
    if (outer === undefined || (closer === "`" ? "}" : closer) !== character) return false;
    this.#level = outer;
    this.#outer -= weigh(outer);
    this.#statementEnded = false;
    this.#newline = false;
    this.#word = "";
    if (closer === "`") return this.#template();
    this.#last = afterBracket(character, head);
    this.#start = head;
    return true;
  }

  #punctuator(): boolean {
    if (this.#source.startsWith("<!--", this.#at)) return this.#fail("html_comment");
    const character = this.#source[this.#at];
    if (character === "." && this.#take(NUMBER) !== undefined) return this.#operand(); // others are words
    if ((character === "+" || character === "-") && this.#take(UPDATE) !== undefined) return this.#update();
    const text = this.#take(PUNCTUATOR);
    return text !== undefined && this.#atPunctuator(text);
  }

  /** Behind an operand it belongs to it, in front of one it is a prefix; either way a division cannot be a pattern. */
  #update(): true {
    if (this.#last !== "operand") this.#level.pending += 1;
    return true;
  }

  #atPunctuator(text: string): true {
    if (text === "!" && this.#last === "operand" && !this.#newline) {
      this.#level.pending += LINK;
      return true;
    }
    const weight = endsOperand(this.#last) && !nestsRight(text) ? LINK : 1;
    const label = text === ":" && this.#label;
    this.#begin("");
    this.#word = text === "." || text === "?." ? "." : "";
    this.#last = "operator";
    if (label) this.#hold(1);
    else if (!this.#separator(text)) this.#level.pending += weight;
    this.#start = label;
    return true;
  }

  #separator(text: string): boolean {
    if (text === ";") this.#statementEnded = true;
    // A comma ends an expression, except among type arguments.
    else if (text === ",") this.#level.pending = this.#level.angles === 0 ? this.#level.held : this.#level.pending;
    else if (text === ">") this.#closeAngle();
    else if (text.startsWith("<")) this.#level.angles += ANGLE * text.length;
    else return false;
    return true;
  }

  #closeAngle(): void {
    this.#level.angles = Math.max(0, this.#level.angles - ANGLE);
    // `x as Array<T>` ends an operand, a comparison does not.
    this.#last = "unsure";
  }
}
