import type { BrowserContext, Page } from 'playwright-core';
import { announceSchema } from '@svc/contract/announcement.ts';
import { budgetSchema, modelPriceSchema } from '@svc/contract/cost.ts';
import { engineSettingsSchema } from '@svc/contract/engine.ts';
import { personaWriteSchema } from '@svc/contract/persona.ts';
import { siloSchema } from '@svc/contract/silo.ts';
import { speechSchema } from '@svc/contract/speech.ts';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import { toolServerSchemas } from '@svc/contract/tool-server.ts';

/** The letters that the pseudo-language writes with accents: a text with one of them outside brackets is not translated. */
const plainLetters = /[aeiouycnszrtdlAEIOUC]/;

/** Times formatted by the browser are in its language: they count as translated. */
const bracketTimes = `(() => {
  const times = Intl.DateTimeFormat.prototype;
  const { get } = Object.getOwnPropertyDescriptor(times, 'format');
  Object.defineProperty(times, 'format', { get() { return (at) => '⟦' + get.call(this)(at) + '⟧'; } });
  const { format } = Intl.RelativeTimeFormat.prototype;
  Intl.RelativeTimeFormat.prototype.format = function (...given) { return '⟦' + format.apply(this, given) + '⟧'; };
})()`;

/**
 * Makes the page keep each response and each event of a stream before it can show them, count the requests that wait for a response, and refuse changes
 * where `svcOnlyLooks` is set.
 */
const keepAnswers = `(() => {
  globalThis.svcSaid = [];
  globalThis.svcAsked = 0;
  const { fetch } = globalThis;
  globalThis.fetch = async (...given) => {
    const [url, { method = 'GET', headers } = {}] = given;
    if (new Headers(headers).get('accept') === 'text/event-stream') return fetch(...given);
    const isService = /^\\/(?:core|manager|collector|chat)\\//.test(new URL(url, location.href).pathname);
    if (globalThis.svcOnlyLooks && isService && method !== 'GET') return Response.json({ message: 'Not now.' }, { status: 409 });
    svcAsked += 1;
    const end = () => setTimeout(() => (svcAsked -= 1));
    try {
      const answer = await fetch(...given);
      void answer.clone().arrayBuffer().then(end, end);
      return answer;
    } catch (error) {
      end();
      throw error;
    }
  };
  const { json } = Response.prototype;
  Response.prototype.json = async function () {
    const answer = await json.call(this);
    svcSaid.push(JSON.stringify(answer));
    return answer;
  };
  const events = () => {
    let rest = '';
    return new TransformStream({
      transform(text, out) {
        const lines = (rest + text).split('\\n');
        rest = lines.pop();
        for (const line of lines) if (line.startsWith('data:')) svcSaid.push(line.slice(5));
        out.enqueue(text);
      },
    });
  };
  window.TextDecoderStream = class extends TextDecoderStream {
    #told;
    get readable() { return (this.#told ??= super.readable.pipeThrough(events())); }
  };
})()`;

/** Resolves when a screen has all that it shows: the responses, and what is drawn from them. */
const isThere = `new Promise((resolve, reject) => {
  const until = performance.now() + 40_000;
  const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
  const isComplete = () =>
    svcAsked === 0 && document.querySelector('.shell h1') !== null && document.querySelector('.skeleton') === null;
  const look = async () => {
    if (isComplete()) {
      await frame();
      await frame();
      if (isComplete()) return resolve();
    }
    if (performance.now() > until) return reject(new Error('The screen is not complete: ' + svcAsked + ' requests wait'));
    setTimeout(look, 10);
  };
  void look();
})`;

/** The titles and descriptions of form fields, which the page has from the contract. */
const fields: readonly object[] = [
  announceSchema,
  budgetSchema,
  engineSettingsSchema,
  modelPriceSchema,
  personaWriteSchema,
  siloSchema,
  speechSchema,
  toolServerSchemas,
];

/** Elements with data: commands, names of keys, code, paths, identifiers, and text of a model. */
const spared = 'script, style, noscript, code, kbd, pre, .path, .markdown';
/** Names that are the same in every language. */
const names = ['ElevenLabs'];

/** Each text of the page (a block as one text), and each attribute that people see or hear, with its place; and what the service has said. */
const readTexts = `(() => {
  const place = (element) => element.tagName.toLowerCase() + [...element.classList].map((name) => '.' + name).join('');
  const blocks = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    let block = walker.currentNode.parentElement;
    if (block.closest(${JSON.stringify(spared)}) !== null) continue;
    while (getComputedStyle(block).display === 'inline') block = block.parentElement;
    blocks.set(block, [...(blocks.get(block) ?? []), walker.currentNode.data]);
  }
  const attributes = ['title', 'aria-label', 'aria-description', 'placeholder', 'alt', 'label', 'data-label'].flatMap((name) =>
    [...document.querySelectorAll('[' + name + ']')].map((element) => [place(element) + ' ' + name, element.getAttribute(name)]));
  const texts = [['title', document.title], ...[...blocks].map(([block, texts]) => [place(block), texts.join('\\n')]), ...attributes];
  return { texts, said: svcSaid.splice(0) };
})()`;

/** Watches pages in the pseudo-language en-XA for untranslated text. */
export async function watchWords(context: BrowserContext) {
  const seen: Text[] = [];
  const said = new Set<string>();
  await context.addInitScript(keepAnswers);
  await context.addInitScript(bracketTimes);
  const look = async (page: Page, ready = '') => {
    const got = (await page.evaluate(`(async () => { ${ready}; return ${readTexts}; })()`)) as Seen;
    seen.push(...got.texts);
    for (const text of got.said) addTexts(parseJsonOrNull(text), said);
  };
  return {
    /** Refuses every change that a page loaded from now on asks for. */
    refuseChanges: () => context.addInitScript('globalThis.svcOnlyLooks = true'),
    /** Records the current texts of the page. */
    look: (page: Page) => look(page),
    /** Records the texts of a screen as soon as it has all that it shows. */
    lookAtScreen: (page: Page) => look(page, `await ${isThere}`),
    /** Untranslated texts of the pages since the last call that are not data of the service. */
    left(): string[] {
      addTexts([fields, names], said);
      const found = seen.splice(0).map(([place, text]) => [place, withoutData(outside(text), said)] as const);
      said.clear();
      return [...new Set(found.filter(([, text]) => plainLetters.test(text)).map(([place, text]) => `${place}: ${text.trim()}`))];
    },
  };
}

type Text = [place: string, text: string];
type Seen = { texts: Text[]; said: string[] };

/** Keys, too: names of models, and of changed fields. */
function addTexts(value: unknown, to: Set<string>): void {
  if (typeof value === 'string') to.add(value.trim());
  else if (Array.isArray(value)) for (const one of value) addTexts(one, to);
  else if (typeof value === 'object' && value !== null) for (const pair of Object.entries(value)) addTexts(pair, to);
}

/** The text outside all brackets. */
function outside(text: string): string {
  let depth = 0;
  let rest = '';
  for (const sign of text) {
    if (sign === '⟦') depth += 1;
    if (depth === 0) rest += sign;
    if (sign === '⟧') {
      depth = Math.max(depth - 1, 0);
      rest += ' ';
    }
  }
  return rest;
}

/** Removes data of the service. A single word counts as data only where it is the whole text; in a sentence it may be the sentence's own. */
function withoutData(text: string, said: ReadonlySet<string>): string {
  const values = [...said].filter((value) => /[^a-z]/.test(value) && plainLetters.test(value) && text.includes(value));
  return values
    .toSorted((one, other) => other.length - one.length)
    .reduce(
      (rest, value) => rest.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}])${escaped(value)}(?![\\p{L}\\p{N}])`, 'gu'), ''),
      text,
    )
    .split(/[\n·,:;()“”"{}[\]]/)
    .filter((part) => !said.has(part.trim()))
    .join(' ');
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
