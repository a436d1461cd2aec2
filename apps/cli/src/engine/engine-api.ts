import type { EngineTest, EngineView, OfferedModelServer } from '@svc/contract/engine.ts';
import type { EngineChoice } from '@svc/contract/service.ts';
import { askCore, type ServiceAnswer } from '../service-client.ts';
import { CliError } from '../cli-error.ts';

/** Examining every engine takes a few seconds the first time. */
const timeoutMs = 30_000;
const testTimeoutMs = 120_000;

type Changed = { engine: EngineView; stored_in?: 'vault' | 'file'; note?: string | null; models?: string[]; warnings?: string[] };
type Listed = { engines: EngineView[]; model_servers: OfferedModelServer[] };

/** The engine routes of the core. Refusals are thrown as CliErrors, except the result of a test. */
export type EngineApi = {
  all(): Promise<Listed>;
  list(): Promise<EngineView[]>;
  /** @throws CliError when there is no such engine. */
  view(id: string): Promise<EngineView>;
  /** Starts the installation; `view` shows its progress. */
  install(id: string): Promise<Changed>;
  /** Restores the previous version. */
  rollback(id: string): Promise<Changed>;
  /** Makes the core examine the engine again, for example after a login. */
  refresh(id: string): Promise<Changed>;
  makeDefault(id: string): Promise<Changed>;
  clearDefault(): Promise<EngineChoice>;
  set(id: string, changes: object): Promise<Changed>;
  putKey(id: string, value: string): Promise<Changed>;
  removeKey(id: string): Promise<Changed>;
  setBaseUrl(id: string, address: string): Promise<Changed>;
  /** One real completion; a failure of the engine is a value. */
  test(id: string): Promise<ServiceAnswer<EngineTest>>;
};

export function createEngineApi(coreUrl: string): EngineApi {
  const url = `${coreUrl}/v2/engines`;
  const at = (id: string, route = '') => `${url}/${encodeURIComponent(id)}${route}`;
  const change = async (what: string, address: string, method: string, body?: object): Promise<Changed> =>
    orThrow(what, await askCore<Changed>(address, { method, body, timeoutMs }));
  const all = async () => orThrow('the engines cannot be listed', await askCore<Listed>(url, { timeoutMs }));

  return {
    all,
    list: async () => (await all()).engines,
    async view(id) {
      const found = (await all()).engines.find((engine) => engine.id === id);
      if (found === undefined) throw new CliError(`there is no engine "${id}".`, { run: './svc engine' });
      return found;
    },
    install: (id) => change(`${id} is not installed`, at(id, '/install'), 'POST'),
    rollback: (id) => change(`${id} stays as it is`, at(id, '/rollback'), 'POST'),
    refresh: (id) => change(`${id} cannot be shown`, at(id, '/refresh'), 'POST'),
    makeDefault: (id) => change(`${id} is not the default`, at(id, '/default'), 'POST'),
    async clearDefault() {
      const answer = await askCore<{ current: EngineChoice }>(`${url}/default`, { method: 'DELETE', timeoutMs });
      return orThrow('nothing was changed', answer).current;
    },
    set: (id, changes) => change('nothing was changed', at(id), 'PATCH', changes),
    putKey: (id, value) => change('the key was not kept', at(id, '/apikey'), 'PUT', { value }),
    removeKey: (id) => change('the key was not removed', at(id, '/apikey'), 'DELETE'),
    setBaseUrl: (id, address) => change('nothing was changed', at(id, '/base-url'), 'POST', { url: address }),
    test: (id) => askCore<EngineTest>(at(id, '/test'), { method: 'POST', timeoutMs: testTimeoutMs }),
  };
}

function orThrow<T>(what: string, answer: ServiceAnswer<T>): T {
  if (answer.ok) return answer.body;
  const { error, message } = answer.body;
  throw new CliError(`${what}.`, {
    why: message,
    run: error === 'not_found' ? './svc engine' : undefined,
  });
}
