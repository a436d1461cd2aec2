import { type Language, speak } from '@svc/chat-ui/language/language.ts';

/** The languages: a file each, named by its BCP 47 tag, and loaded only when used. English is in the code. */
const files = import.meta.glob<{ language: Language }>('../languages/*.ts');
const tags = new Map(Object.keys(files).map((file) => [file.slice(file.lastIndexOf('/') + 1, -'.ts'.length), file]));

/** The first of a person's languages that exists: "de" is used for "de-CH". Null: English. */
export function chooseLanguage(wanted: readonly string[], known: ReadonlySet<string>): string | null {
  for (const tag of wanted) {
    if (known.has(tag)) return tag;
    const [base = tag] = tag.split('-');
    if (base === 'en') return null;
    if (known.has(base)) return base;
  }
  return null;
}

/** Must run before the page's modules are loaded, because they create their texts while loading. */
export async function loadLanguage(): Promise<void> {
  const tag = chooseLanguage(navigator.languages, new Set(tags.keys()));
  const load = tag === null ? undefined : files[tags.get(tag) ?? ''];
  if (tag === null || load === undefined) return;
  try {
    speak(tag, (await load()).language);
    document.documentElement.lang = tag;
  } catch (error) {
    reportError(new Error(`The page stays English: the language ${tag} could not be loaded.`, { cause: error }));
  }
}
