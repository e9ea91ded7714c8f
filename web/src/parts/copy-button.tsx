import { useState } from 'react';
import { copyText } from '../runtime/copy.ts';
import { Icon } from './icon.tsx';
import { toasts } from './toasts.tsx';

const THANKS_MS = 1_500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await copyText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), THANKS_MS);
    } catch {
      toasts.add(
        'bad',
        'The browser does not allow this page to copy. Select the text and copy it yourself.',
      );
    }
  };
  return (
    <button type="button" className="small" onClick={() => void copy()}>
      <Icon name={copied ? 'check' : 'copy'} />
      {copied ? 'Copied' : label}
    </button>
  );
}

/** A shell command with a copy button. */
export function Command({ text }: { text: string }) {
  return (
    <div className="command">
      <code>{text}</code>
      <CopyButton text={text} label="Copy" />
    </div>
  );
}
