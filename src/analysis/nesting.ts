import {
  afterBracket,
  CARRY_ON,
  endsOperand,
  continuesWord,
  isNameStart,
  type LastToken,
  nestsRight,
  NUMBER,
  OPENERS,
  PUNCTUATOR,
  REGEX,
  ROLES,
  STRING,
  tokenStartOf,
  UPDATE,
  WORD,
} from "./tokens.ts";
import {
  ANGLE,
  createLevel,
  type NestingLevel,
  LINK,
  MAX_LINE,
  MAX_NESTING,
  NEST,
  type NestingProblem,
  type NestingReport,
  resetLevel,
  weigh,
} from "./nesting-level.ts";
import { TokenReader } from "./token-reader.ts";

/**
 * Finds programs that would overrun the stack or memory of the native parser and so end the process. Walks the tokens
 * and bounds the depth of the syntax tree from above: it may misread the grammar but must never give too low a bound.
 */
export function scanNesting(source: string): NestingReport {
  const scan = new NestingScan(source);
  const problem = scan.run();
  return { problem, longestLine: scan.longestLine };
}

class NestingScan {
  readonly #reader: TokenReader;
  #last: LastToken = "operator";
  #word = "";
  longestLine = 0;
  #statementEnded = false;
  /** A statement can start here; a name that starts one could be a label. */
  #start = true;
  #label = false;
  #outer = 0;
  #problem: NestingProblem | undefined;
  readonly #levels: NestingLevel[] = [];
  #level = createLevel("", false);

  constructor(source: string) {
    this.#reader = new TokenReader(source);
  }

  run(): NestingProblem | undefined {
    const reader = this.#reader;
    while (this.#problem === undefined && !reader.atEnd) {
      if (!this.#token()) return this.#problem;
      reader.lineTokens += 1;
      if (this.#outer + weigh(this.#level) > MAX_NESTING * NEST) this.#fail("too_deep");
      this.longestLine = Math.max(this.longestLine, reader.lineTokens * (reader.at - reader.lineStart));
      if (this.longestLine > MAX_LINE) this.#fail("long_line");
    }
    return this.#problem;
  }

  #fail(reason: NestingProblem["reason"], at = this.#reader.at): false {
    this.#problem = { offset: Math.min(at, this.#reader.source.length - 1), reason };
    return false;
  }

  /** Returns false where the parser gives up as well, so that the rest does not matter. */
  #token(): boolean {
    const reader = this.#reader;
    reader.skipSpace();
    if (reader.atEnd) return true;
    const character = reader.source[reader.at] ?? "";
    const code = reader.source.charCodeAt(reader.at);
    switch (tokenStartOf(code)) {
      case "word":
        return this.#atWord(reader.takeWord());
      case "open":
        return this.#open(OPENERS[character] ?? "");
      case "close":
        return this.#close(character);
      case "literal":
        return this.#literal(character);
      case "separator":
        reader.at += 1;
        return this.#atPunctuator(character);
      case undefined:
      default:
        return this.#other(code);
    }
  }

  #literal(character: string): boolean {
    if (character === "/") return this.#slash();
    if (character !== "`") return this.#reader.take(STRING) !== undefined && this.#operand();
    this.#reader.at += 1;
    this.#link();
    return this.#template();
  }

  #other(code: number): boolean {
    const word = continuesWord(code) ? this.#reader.take(WORD) : undefined;
    return word === undefined ? this.#punctuator() : this.#atWord(word);
  }

  #slash(): boolean {
    const start = this.#reader.at;
    const next = this.#reader.source[start + 1];
    if (next === "/" || next === "*") return this.#reader.skipComment();
    if (this.#last === "operand") return this.#punctuator();
    const regex = this.#reader.take(REGEX);
    if (this.#last === "operator") return regex !== undefined && this.#operand();
    // After a block `/` starts a regular expression, after an object it divides: only the parser can tell.
    this.#reader.at = start;
    return regex === undefined ? this.#punctuator() : this.#fail("ambiguous_slash");
  }

  #template(): boolean {
    const pattern = /\\[^]|\$\{|`/g;
    pattern.lastIndex = this.#reader.at;
    for (let found = pattern.exec(this.#reader.source); found !== null; found = pattern.exec(this.#reader.source)) {
      this.#reader.at = pattern.lastIndex;
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
    const role = ROLES.get(word);
    this.#last = role?.last ?? "operand";
    if (role === undefined) return true;
    if (role.isHead || word === "do") this.#hold(afterElse ? LINK : NEST);
    else if (word === "else") this.#level.elses += LINK;
    else if (word === "case") this.#reset();
    else if (role.isPrefix) this.#level.pending += NEST;
    this.#start = word === "else" || word === "do";
    return true;
  }

  #hold(weight: number): void {
    this.#level.held += weight;
    this.#level.pending += weight;
  }

  /** Begins a token; starts a new statement where nothing else would be legal. */
  #begin(word: string): void {
    const ended = this.#last === "brace" || (this.#reader.newline && this.#last === "operand");
    const fresh = ended && word !== "" && !CARRY_ON.has(word);
    if (fresh || (this.#statementEnded && word !== "else" && word !== "while")) this.#reset();
    this.#label = this.#start && word !== "";
    this.#start = false;
    this.#statementEnded = false;
    this.#reader.newline = false;
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
    this.#reader.at += 1;
    const head = closer === ")" && ROLES.get(this.#word)?.isHead === true;
    this.#link();
    this.#begin("");
    this.#push(closer, head);
    return true;
  }

  #push(closer: string, head: boolean): void {
    this.#outer += weigh(this.#level) + NEST;
    this.#levels.push(this.#level);
    this.#level = createLevel(closer, head);
    this.#last = "operator";
    this.#start = closer === "}";
  }

  #close(character: string): boolean {
    this.#reader.at += 1;
    const { closer, head } = this.#level;
    const outer = this.#levels.pop();
    if (outer === undefined && character === "}") return this.#fail("stray_brace", this.#reader.at - 1);
    if (outer === undefined || (closer === "`" ? "}" : closer) !== character) return false;
    this.#level = outer;
    this.#outer -= weigh(outer) + NEST;
    this.#statementEnded = false;
    this.#reader.newline = false;
    this.#word = "";
    if (closer === "`") return this.#template();
    this.#last = afterBracket(character, head);
    this.#start = head;
    return true;
  }

  #punctuator(): boolean {
    const reader = this.#reader;
    const character = reader.source[reader.at];
    if (character === "." && isNameStart(reader.source.charCodeAt(reader.at + 1))) {
      reader.at += 1;
      return this.#atPunctuator(character);
    }
    if (character === "." && reader.take(NUMBER) !== undefined) return this.#operand(); // others are words
    if (character === "<" && reader.source.startsWith("<!--", reader.at)) return this.#fail("html_comment");
    if ((character === "+" || character === "-") && reader.take(UPDATE) !== undefined) return this.#update();
    const text = reader.take(PUNCTUATOR);
    return text !== undefined && this.#atPunctuator(text);
  }

  /** Binds to the operand before it, or is a prefix of the next one; a `/` after it is never a regular expression. */
  #update(): true {
    if (this.#last !== "operand") this.#level.pending += NEST;
    return true;
  }

  #atPunctuator(text: string): true {
    if (text === "!" && this.#last === "operand" && !this.#reader.newline) {
      this.#level.pending += LINK;
      return true;
    }
    const weight = endsOperand(this.#last) && !nestsRight(text) ? LINK : NEST;
    const label = text === ":" && this.#label;
    this.#begin("");
    this.#word = text === "." || text === "?." ? "." : "";
    this.#last = "operator";
    if (label) this.#hold(NEST);
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
