type Props<K extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[K], 'style' | 'children'>>;

/** An element with its properties and children. Strings become text nodes, never HTML. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props<K> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  Object.assign(element, props);
  element.append(...children);
  return element;
}

type FieldProps = Pick<HTMLInputElement, 'id' | 'type'> & {
  label: string;
  hint?: string;
  autocomplete: string;
  inputMode?: string;
};

/** An input with its label; both are part of a form. */
export function field({ id, type, label, hint, autocomplete, inputMode = '' }: FieldProps): {
  input: HTMLInputElement;
  parts: Node[];
} {
  const input = make('input', { id, type, name: id, required: true, inputMode, spellcheck: false });
  input.setAttribute('autocomplete', autocomplete);
  input.autocapitalize = 'off';
  const parts: Node[] = [make('label', { htmlFor: id }, label), input];
  if (hint !== undefined) {
    const words = make('p', { className: 'hint', id: `${id}-hint` }, hint);
    input.setAttribute('aria-describedby', words.id);
    parts.push(words);
  }
  return { input, parts };
}

/** Where a form shows its error. */
export function faultLine(): { element: HTMLElement; say(words: string | null): void } {
  const element = make('p', { className: 'fault', role: 'alert' } as object);
  element.hidden = true;
  return {
    element,
    say(words) {
      element.hidden = words === null;
      element.textContent = words ?? '';
    },
  };
}

type FormOptions = { parts: Node[]; button: string; busy: string; onSubmit(): Promise<void> };

/** A form that is submitted once at a time, and shows why it was refused. */
export function form({ parts, button, busy, onSubmit }: FormOptions): HTMLFormElement {
  const fault = faultLine();
  const submit = make('button', { type: 'submit', className: 'primary' }, button);
  const element = make('form', { noValidate: false }, ...parts, fault.element, submit);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    fault.say(null);
    submit.disabled = true;
    submit.textContent = busy;
    onSubmit()
      .catch((error: unknown) => fault.say(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        submit.disabled = false;
        submit.textContent = button;
      });
  });
  return element;
}

/** Shows the page's only card, and focuses its heading, so that screen readers announce the change. */
export function show(title: string, ...children: Node[]): void {
  const heading = make('h1', { tabIndex: -1 }, title);
  const icon = make('img', { src: '/icon.svg', alt: '', width: 56, height: 56 });
  document
    .getElementById('root')
    ?.replaceChildren(make('main', { className: 'entry' }, make('div', { className: 'card' }, icon, heading, ...children)));
  const first = document.querySelector<HTMLElement>('main input');
  (first ?? heading).focus();
}
