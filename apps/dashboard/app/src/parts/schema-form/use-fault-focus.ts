import { type RefObject, useEffect, useRef } from 'react';

/** The ref of a form: when fields are invalid, the first of them gets the focus. */
export function useFaultFocus(faults: Readonly<Record<string, string>>): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(faults).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [faults]);
  return form;
}
