import { type ReactNode, useEffect, useRef } from 'react';

/** A confirmation dialog. */
export function Ask({
  title,
  children,
  confirm,
  tone = 'danger',
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  confirm: string;
  tone?: 'danger' | 'primary';
  /** Return `stay` to keep the dialog open. */
  onConfirm: () => 'stay' | 'close' | void;
  onClose: () => void;
}) {
  const ref = useModal();
  return (
    <dialog ref={ref} className="dialog" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      <div className="dialog-actions">
        <button type="button" onClick={() => ref.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          className={tone}
          onClick={() => {
            if (onConfirm() !== 'stay') ref.current?.close();
          }}
        >
          {confirm}
        </button>
      </div>
    </dialog>
  );
}

export function useModal() {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return ref;
}
