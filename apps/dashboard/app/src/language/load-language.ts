import { type Language, speak } from '@svc/chat-ui/language/language.ts';

/** Each a file that is named by its tag of BCP 47, and loaded only by who reads it. English stands in the code. */
const files = import.meta.glob<{ language: Language }>('../languages/*.ts');
const tags = new Map(Object.keys(files).map((file) => [file.slice(file.lastIndexOf('/') + 1, -'.ts'.length), file]));

/** The first language that a person wants and that there is: "de-CH" is content with "de". Null: English. */
export function chooseLanguage(wanted: readonly string[], known: ReadonlySet<string>): string | null {
  for (const tag of wanted) {
    if (known.has(tag)) return tag;
    const [base = tag] = tag.split('-');
    if (base === 'en') return null;
    if (known.has(base)) return base;
  }
  return null;
}

/** Before anything of the page is loaded: modules make their texts as they load. */
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
