import type { Page } from 'playwright-core';

/** Rows of lists that are empty in a new installation, and answers that it lacks. Their texts are replaced. */
const samples: Record<string, object | string> = {
  deliveries: {
    id: 'd',
    turn_id: 't',
    state: 'failed',
    instance_id: 'compat',
    target: 'x',
    text: 'x',
    error: 'x',
    next_at: null,
  },
  asks: { id: 'a', text: 'x', conversation_key: 'x', expires_at: 1e12, options: [] },
  invitations: { id: 'i', principal: null, name: 'x', role: 'x', surface: 'x', expires_at: 1e12 },
  passkeys: { id: 'p', name: 'x', host: 'x', created_at: 1e12, used_at: null },
  logs: { at: 1e12, stream: 'stdout', text: 'x' },
  backups: {
    id: 'b',
    state: 'failed',
    error: 'x',
    created_at: 1e12,
    version: 'x',
    bytes: 1,
    scheduled: false,
    has_secrets: false,
  },
  actions: { id: 'c', at: 1e12, actor: 'x', action: 'x', target: 'x', outcome: 'x', error: 'x' },
  side: {
    surface: 'x',
    feature: 'x',
    provider: 'x',
    model: 'x',
    calls: 1,
    quantity: 1,
    units: 'x',
    cost_usd: 1,
    billed_cost_usd: 1,
  },
  degraded: 'x',
};
const answers: Record<string, object> = {
  '/collector/api/control/diff': { root: 'x', branch: 'x', files: ['x'], diff: 'x', truncated: false },
};
/** Fields with fixed values of ours, on which a page branches: they never have foreign text. */
const ours =
  /^(?:id|.*_id|key|conversation_key|state|status|kind|type|tier|trust_tier|tool_policy|asks|stream|heartbeat|period|method|format|mode|auth|origin)$/;
/** Fields that never have fixed values of ours. */
const often =
  /^(?:title|model|reason|error|cwd|repo|branch|last_text|notice|warning|first_steps|target|tmux_target|identity|principal|.*name|text|words|message|description|snippet|path|device|note)$/;
const rowsOfList = 40;

/** Calls of the service; streams and the check of the login keep their answers. */
const isApi = /^\/(?:core|manager|collector)\/(?!.*\/(?:stream|verify)$)/;

/** Changes answers within the page, whose requests the browser then treats as always; `kept` lives as long as the tab. */
const replaceInPage = (texts: readonly string[]) => `(() => {
  const texts = ${JSON.stringify(texts)};
  const samples = ${JSON.stringify(samples)};
  const answers = ${JSON.stringify(answers)};
  const kept = sessionStorage;
  const next = () => {
    const at = Number(kept.getItem('svc-test-at'));
    kept.setItem('svc-test-at', at + 1);
    return texts[at % texts.length];
  };
  const rowsOf = (list, name) => {
    const rows = list.length > 0 || samples[name] === undefined ? list : [samples[name]];
    if (rows.length === 0 || typeof rows[0] === 'string') return rows;
    return Array.from({ length: Math.max(${rowsOfList}, rows.length) }, (_, index) => {
      const row = rows[index % rows.length];
      return typeof row.id === 'string' && index >= rows.length ? { ...row, id: row.id + '-' + index } : row;
    });
  };
  const foreign = (value, name) => {
    if (typeof value === 'string') {
      if (value === '*' || ${ours}.test(name) || (kept.getItem('svc-test-replaced') === 'all but words' && !${often}.test(name))) return value;
      return name === 'diff' ? texts.join('\\n') : next();
    }
    if (Array.isArray(value)) return rowsOf(value, name).map((row) => foreign(row, name));
    if (value === null && ${often}.test(name)) return next();
    if (value === null && name === 'multiplexer') return 'tmux';
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, foreign(inner, field)]));
  };
  const { fetch } = globalThis;
  globalThis.fetch = async (...given) => {
    const { origin, pathname } = new URL(given[0], location.href);
    if (kept.getItem('svc-test-replaced') === null || origin !== location.origin || !${isApi}.test(pathname)) return fetch(...given);
    const answer = answers[pathname] === undefined ? await fetch(...given) : Response.json(answers[pathname]);
    if (!answer.headers.get('content-type')?.startsWith('application/json')) return answer;
    return new Response(JSON.stringify(foreign(await answer.json(), '')), answer);
  };
})()`;

export type Replaced = {
  /** `sparesWords`: keeps values that may be ours, for a screen that branches on one. For pages that are loaded from now on. */
  setSparing(sparesWords: boolean): Promise<void>;
  end(): Promise<void>;
};

/** Replaces every text in the answers of the service by these, in turn. */
export async function replaceAnswers(page: Page, texts: readonly string[]): Promise<Replaced> {
  await page.addInitScript(replaceInPage(texts));
  const replaced: Replaced = {
    setSparing: (sparesWords) =>
      page.evaluate(`sessionStorage.setItem('svc-test-replaced', ${JSON.stringify(sparesWords ? 'all but words' : 'all')})`),
    end: () => page.evaluate("sessionStorage.removeItem('svc-test-replaced')"),
  };
  await replaced.setSparing(false);
  return replaced;
}

/** Refuses every call with this message. */
export async function refuseAnswers(page: Page, origin: string, message: string): Promise<{ end(): Promise<void> }> {
  const json = { error: 'bad_request', message, request_id: message };
  await page.route(
    (url) => url.origin === origin && isApi.test(url.pathname),
    (route) => route.fulfill({ status: 400, json }),
  );
  return { end: () => page.unrouteAll({ behavior: 'ignoreErrors' }) };
}
