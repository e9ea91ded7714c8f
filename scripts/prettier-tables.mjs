/** A Prettier plugin for Markdown: tables stay as written, because padded columns make wide tables unreadable. */
import { doc } from 'prettier';
import { parsers, printers as markdown } from 'prettier/plugins/markdown';

const { hardline, join } = doc.builders;

export { parsers };

export const printers = {
  mdast: {
    ...markdown.mdast,
    print(path, options, print, args) {
      const { node } = path;
      if (node.type !== 'table') return markdown.mdast.print(path, options, print, args);
      const { start, end } = node.position;
      const rows = options.originalText.slice(start.offset, end.offset).split('\n');
      return join(
        hardline,
        rows.map((row) => row.trim()),
      );
    },
  },
};
