import { type RefObject, useEffect, useMemo, useRef } from 'react';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
const controls = 'input, select, textarea';
/** Looking for something is not lost work, and a code or the password of the login is no draft. */
const fleeting = '[type=search], [autocomplete=one-time-code], [autocomplete=current-password], [autocomplete=username]';
const choices = 'select, [type=checkbox], [type=radio]';

const listeners = new Set<() => void>();

/** The form that was sent last is kept now: it may be closed without a question. */
export function noteSaved(): void {
  for (const listener of listeners) listener();
}

/**
 * Whether a person has typed or chosen something in the forms of a dialog that is not sent yet. A choice that belongs to no form acts at once, or
 * says only which form is shown.
 */
export function useTyped(dialog: RefObject<HTMLDialogElement | null>) {
  const state = useRef({
    before: new WeakMap<Control, string>(),
    touched: new Set<Control>(),
    sent: null as HTMLFormElement | null,
    /** The form that was sent, until the person types again. */
    underWay: null as HTMLFormElement | null,
  });
  useEffect(() => {
    const saved = () => {
      const { before, touched, sent } = state.current;
      state.current.underWay = null;
      if (sent === null) return;
      for (const control of touched)
        if (control.form === sent) {
          touched.delete(control);
          before.delete(control);
        }
      state.current.sent = null;
    };
    listeners.add(saved);
    return () => void listeners.delete(saved);
  }, []);

  return useMemo(
    () => ({
      has(): boolean {
        const { before, touched } = state.current;
        return [...touched].some(
          (control) =>
            control.closest('dialog') === dialog.current &&
            !control.matches(fleeting) &&
            (control.form !== null || !control.matches(choices)) &&
            before.get(control) !== valueOf(control),
        );
      },
      /** The form is being saved: its button is disabled. */
      isUnderWay(): boolean {
        const button = state.current.underWay?.querySelector<HTMLButtonElement>('[type=submit]');
        return button?.disabled === true;
      },
      /** For the dialog: what happens in it. */
      handlers: {
        onFocus: ({ target }: { target: Element }) => {
          const { before } = state.current;
          if (isControl(target) && !before.has(target)) before.set(target, valueOf(target));
        },
        onInput: ({ target }: { target: EventTarget }) => {
          if (!isControl(target)) return;
          state.current.touched.add(target);
          state.current.underWay = null;
        },
        onSubmit: ({ target }: { target: EventTarget }) => {
          if (target instanceof HTMLFormElement) state.current.sent = state.current.underWay = target;
        },
      },
    }),
    [dialog],
  );
}

const isControl = (target: EventTarget): target is Control => target instanceof Element && target.matches(controls);
const valueOf = (control: Control): string =>
  control.matches('[type=checkbox], [type=radio]') ? String((control as HTMLInputElement).checked) : control.value;
