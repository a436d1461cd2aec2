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

/** `sparesWords`: keeps values that may be ours, for a screen that branches on one. */
export type Replaced = { sparesWords: boolean; end(): Promise<void> };

/** Replaces every text in the answers of the service by these, in turn. */
export async function replaceAnswers(page: Page, origin: string, texts: readonly string[]): Promise<Replaced> {
  let at = 0;
  const next = () => texts[at++ % texts.length] ?? '';
  const foreign = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') {
      if (value === '*' || ours.test(name) || (replaced.sparesWords && !often.test(name))) return value;
      return name === 'diff' ? texts.join('\n') : next();
    }
    if (Array.isArray(value)) return rowsOf(value, name).map((row) => foreign(row, name));
    if (value === null && often.test(name)) return next();
    if (value === null && name === 'multiplexer') return 'tmux';
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, foreign(inner, field)]));
  };
  const replaced: Replaced = { sparesWords: false, end: () => page.unrouteAll({ behavior: 'ignoreErrors' }) };
  await page.route(isApi(origin), async (route) => {
    const json = answers[new URL(route.request().url()).pathname];
    if (json !== undefined) return route.fulfill({ json: foreign(json, '') });
    const response = await route.fetch().catch(() => null);
    if (response === null) return route.abort();
    const isJson = response.headers()['content-type']?.startsWith('application/json') === true;
    return isJson ? route.fulfill({ response, json: foreign(await response.json(), '') }) : route.fulfill({ response });
  });
  return replaced;
}

/** Refuses every call with this message. */
export async function refuseAnswers(page: Page, origin: string, message: string): Promise<{ end(): Promise<void> }> {
  const json = { error: 'bad_request', message, request_id: message };
  await page.route(isApi(origin), (route) => route.fulfill({ status: 400, json }));
  return { end: () => page.unrouteAll({ behavior: 'ignoreErrors' }) };
}

const isApi = (origin: string) => (url: URL) =>
  url.origin === origin && /^\/(?:core|manager|collector)\/(?!.*\/(?:stream|verify)$)/.test(url.pathname);

function rowsOf(list: unknown[], name: string): unknown[] {
  const rows = list.length > 0 || samples[name] === undefined ? list : [samples[name]];
  if (rows.length === 0 || typeof rows[0] === 'string') return rows;
  return Array.from({ length: Math.max(rowsOfList, rows.length) }, (_, index) => {
    const row = rows[index % rows.length] as Record<string, unknown>;
    return typeof row['id'] === 'string' && index >= rows.length ? { ...row, id: `${row['id']}-${index}` } : row;
  });
}
