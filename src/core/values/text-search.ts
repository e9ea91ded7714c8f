/**
 * Finds many texts at once (Aho and Corasick, 1975). Each character costs a bounded number of
 * steps, whatever the texts are, so a job cannot make masking slow by its choice of secrets and log
 * lines. Texts are added until their total length reaches a bound; the rest is ignored.
 */
export class TextSearch {
  /**
   * Per node: its first child and the character that leads to it. Other children are in
   * `#branches`.
   */
  readonly #childChars: Uint16Array;
  readonly #children: Int32Array;
  readonly #branches = new Map<number, number>();
  /** The node of the longest suffix that is a prefix of another text; and its depth. */
  readonly #fallbacks: Int32Array;
  readonly #depths: Int32Array;
  /** The length of the longest text that ends here; 0 when none does. */
  readonly #found: Int32Array;
  #nodes = 1;

  /** The most important texts first. */
  constructor(texts: Iterable<string>, lengthMax: number) {
    const kept: string[] = [];
    let length = 0;
    for (const text of texts) {
      if (text === '' || length + text.length > lengthMax) continue;
      kept.push(text);
      length += text.length;
    }
    this.#childChars = new Uint16Array(length + 1);
    this.#children = new Int32Array(length + 1);
    this.#fallbacks = new Int32Array(length + 1);
    this.#depths = new Int32Array(length + 1);
    this.#found = new Int32Array(length + 1);
    const parents = new Int32Array(length + 1);
    const chars = new Uint16Array(length + 1);
    for (const text of kept) this.#add(text, parents, chars);
    this.#link(parents, chars);
  }

  /** Replaces each occurrence. Overlapping occurrences are replaced as one. */
  replace(text: string, replacement: string): string {
    if (this.#nodes === 1) return text;
    const starts: number[] = [];
    const ends: number[] = [];
    let node = 0;
    for (let at = 0; at < text.length; at += 1) {
      node = this.#step(node, text.charCodeAt(at));
      const length = this.#found[node] ?? 0;
      if (length === 0) continue;
      let start = at + 1 - length;
      // Merge with the overlapping matches found before.
      while ((ends.at(-1) ?? -1) > start) {
        ends.pop();
        start = Math.min(start, starts.pop() ?? start);
      }
      starts.push(start);
      ends.push(at + 1);
    }
    if (starts.length === 0) return text;
    const kept = starts.map((start, index) => text.slice(ends[index - 1] ?? 0, start));
    return [...kept, text.slice(ends.at(-1))].join(replacement);
  }

  #add(text: string, parents: Int32Array, chars: Uint16Array): void {
    let node = 0;
    for (let at = 0; at < text.length; at += 1) {
      const char = text.charCodeAt(at);
      let next = this.#child(node, char);
      if (next === 0) {
        next = this.#nodes;
        this.#nodes += 1;
        if (this.#children[node] === 0) {
          this.#children[node] = next;
          this.#childChars[node] = char;
        } else {
          this.#branches.set(node * 65_536 + char, next);
        }
        parents[next] = node;
        chars[next] = char;
        this.#depths[next] = at + 1;
      }
      node = next;
    }
    this.#found[node] = text.length;
  }

  /** By depth, because the fallback of a node is always shorter than the node. */
  #link(parents: Int32Array, chars: Uint16Array): void {
    for (const node of this.#byDepth()) {
      const parent = parents[node] ?? 0;
      const fallback =
        parent === 0 ? 0 : this.#step(this.#fallbacks[parent] ?? 0, chars[node] ?? 0);
      this.#fallbacks[node] = fallback;
      if (this.#found[node] === 0) this.#found[node] = this.#found[fallback] ?? 0;
    }
  }

  /** All nodes except the root, shallowest first. */
  #byDepth(): Int32Array {
    const nodes = this.#nodes;
    const firstAt = new Int32Array(nodes + 1);
    for (let node = 1; node < nodes; node += 1) firstAt[(this.#depths[node] ?? 0) + 1]! += 1;
    for (let depth = 1; depth <= nodes; depth += 1) firstAt[depth]! += firstAt[depth - 1] ?? 0;
    const sorted = new Int32Array(nodes - 1);
    for (let node = 1; node < nodes; node += 1) {
      const depth = this.#depths[node] ?? 0;
      sorted[firstAt[depth] ?? 0] = node;
      firstAt[depth]! += 1;
    }
    return sorted;
  }

  #step(from: number, char: number): number {
    let node = from;
    for (;;) {
      const next = this.#child(node, char);
      if (next !== 0) return next;
      if (node === 0) return 0;
      node = this.#fallbacks[node] ?? 0;
    }
  }

  /** 0 when there is none: the root is never a child. */
  #child(node: number, char: number): number {
    const first = this.#children[node] ?? 0;
    if (first === 0) return 0;
    if (this.#childChars[node] === char) return first;
    return this.#branches.get(node * 65_536 + char) ?? 0;
  }
}
