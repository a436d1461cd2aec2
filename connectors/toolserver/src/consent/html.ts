/** Markup that was written by us, texts in it escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Every value that is put in is escaped, unless it is `Html` itself. */
export function html(parts: TemplateStringsArray, ...values: (string | Html | (string | Html)[])[]): Html {
  const texts = values.map((value) => (Array.isArray(value) ? value.map(toText).join('') : toText(value)));
  return new Html(parts.map((part, index) => part + (texts[index] ?? '')).join(''));
}

const toText = (value: string | Html): string => (value instanceof Html ? value.text : escape(value));

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? '');
