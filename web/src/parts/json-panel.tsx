import { type ReactNode, useState } from 'react';
import { downloadText } from '../runtime/download.ts';
import { isLong, sizeWords } from '../words/json-size.ts';
import { CopyButton } from './copy-button.tsx';
import { JsonTree } from './json-tree.tsx';
import { Panel } from './panel.tsx';

/** A JSON value that can be large: clamped at first, and it can be copied and downloaded. */
export function JsonPanel({
  title,
  value,
  fileName,
  aside,
  children,
}: {
  title: string;
  value: unknown;
  fileName: string;
  aside?: ReactNode;
  /** Another view of the value. */
  children?: ReactNode;
}) {
  const [isWhole, setIsWhole] = useState(false);
  const text = JSON.stringify(value, null, 2) ?? 'null';
  const long = isLong(text);
  return (
    <Panel title={title} aside={aside}>
      <div
        className={long && !isWhole ? 'clamped' : undefined}
        {...(long && { tabIndex: 0, role: 'group', 'aria-label': title })}
      >
        {children ?? <JsonTree value={value} openLevels={long ? 1 : 2} />}
      </div>
      {isWorthCopying(text) && (
        <div className="copies">
          {long && (
            <button type="button" className="small" onClick={() => setIsWhole(!isWhole)}>
              {isWhole ? 'Show less' : `Show all (${sizeWords(text)})`}
            </button>
          )}
          <CopyButton text={text} label="Copy JSON" />
          <button type="button" className="small" onClick={() => downloadText(fileName, text)}>
            Download
          </button>
        </div>
      )}
    </Panel>
  );
}

/** Not `null` and not `{}`. */
function isWorthCopying(text: string): boolean {
  return text.length > 4;
}
