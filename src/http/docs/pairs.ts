import type { MarkedExtension, Token, Tokens } from 'marked';
import { markup, Markup } from './markup.ts';

/** The same program for another system and for Longshore; a page shows both side by side. */
interface Pair extends Tokens.Generic {
  type: 'pair';
  sides: [Token[], Token[]];
}

/** In the guides for those who move: "BullMQ:", code, "Longshore:", code. */
export const PAIRS: MarkedExtension = {
  extensions: [
    {
      name: 'pair',
      renderer(token) {
        const sides = (token as Pair).sides.map(
          (side) => markup`<div>${new Markup(this.parser.parse(side))}</div>`,
        );
        return markup`<div class="pair">${sides}</div>\n`.text;
      },
    },
  ],
  hooks: { processAllTokens: paired },
};

function paired(tokens: Token[]): Token[] {
  const blocks = tokens.filter(({ type }) => type !== 'space');
  const result: Token[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const [intro, code, own, ownCode] = blocks.slice(at, at + 4);
    if (intro && code && own && ownCode && isPair(intro, code, own, ownCode)) {
      const sides: Pair['sides'] = [
        [intro, code],
        [own, ownCode],
      ];
      const raw = [intro, code, own, ownCode].map((one) => one.raw).join('');
      result.push({ type: 'pair', raw, sides } satisfies Pair);
      at += 3;
    } else if (intro) {
      result.push(intro);
    }
  }
  return result;
}

function isPair(intro: Token, code: Token, own: Token, ownCode: Token): boolean {
  return (
    /^\S+:\s*$/.test(intro.raw) &&
    own.raw.startsWith('Longshore') &&
    [intro, own].every(({ type }) => type === 'paragraph') &&
    [code, ownCode].every(({ type }) => type === 'code')
  );
}
