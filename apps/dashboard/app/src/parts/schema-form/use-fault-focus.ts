import { type RefObject, useEffect, useRef } from 'react';

/** For a form: whenever something is wrong with its fields, one goes to the first of them. */
export function useFaultFocus(faults: Readonly<Record<string, string>>): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(faults).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [faults]);
  return form;
}
