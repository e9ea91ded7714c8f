import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from 'react';

export function useModal() {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return ref;
}

/**
 * A dialog with a form. Escape does not lose what was typed without a question, and does not close
 * it while the server answers.
 */
export function Dialog({
  modal,
  title,
  running,
  canLose = true,
  onClose,
  children,
}: {
  modal: RefObject<HTMLDialogElement | null>;
  title: string;
  running: boolean;
  /** Closing it loses what was typed. */
  canLose?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const [isTyped, setIsTyped] = useState(false);
  const [asking, setAsking] = useState(false);
  const wasFocused = useRef<Element | null>(null);
  const isKept = (canLose && isTyped) || running;
  const close = () => modal.current?.close();
  const ask = () => {
    if (running || asking) return;
    wasFocused.current = document.activeElement;
    setAsking(true);
  };
  const keep = () => {
    setAsking(false);
    if (wasFocused.current instanceof HTMLElement) wasFocused.current.focus();
  };
  return (
    <dialog
      ref={modal}
      className="dialog"
      aria-label={title}
      onInput={() => setIsTyped(true)}
      // A browser lets a page prevent one "cancel" only, but every key.
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key !== 'Escape' || !isKept) return;
        event.preventDefault();
        ask();
      }}
      onCancel={(event) => {
        if (!isKept || event.target !== event.currentTarget) return;
        event.preventDefault();
        ask();
      }}
      onClose={onClose}
    >
      <h2>{title}</h2>
      {children}
      {asking && !running && (
        <div className="notice warn dialog-discard" role="alert">
          <p>Discard what you entered?</p>
          <button type="button" className="small" autoFocus onClick={keep}>
            Keep editing
          </button>
          <button type="button" className="small danger" onClick={close}>
            Discard
          </button>
        </div>
      )}
    </dialog>
  );
}

/** Why the server refused a change, or why it was not applied. */
export function Complaint({ wrong }: { wrong: readonly string[] }) {
  return (
    <div role="alert">
      {wrong.map((one) => (
        <p key={one} className="wrong">
          {one}
        </p>
      ))}
    </div>
  );
}
