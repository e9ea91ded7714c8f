import { type ReactNode, useEffect, useRef } from 'react';

/** Asks before something happens that cannot be taken back. The browser keeps the focus inside. */
export function Ask({
  title,
  children,
  confirm,
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  confirm: string;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const ref = useModal();
  return (
    <dialog ref={ref} className="dialog" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      <div className="dialog-actions">
        <button type="button" onClick={() => ref.current?.close()}>
          Not now
        </button>
        <button
          type="button"
          className="danger"
          onClick={() => {
            onConfirm();
            ref.current?.close();
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
