import type { EngineTest, EngineView, OfferedModelServer } from '@svc/contract/engine.ts';
import type { EngineChoice } from '@svc/contract/service.ts';
import { askCore, type ServiceAnswer } from '../service-client.ts';
import { CliError } from '../cli-error.ts';

/** A look at every engine takes a few seconds the first time. */
const timeoutMs = 30_000;
const testTimeoutMs = 120_000;

type Changed = { engine: EngineView; stored_in?: 'vault' | 'file'; note?: string | null; models?: string[]; warnings?: string[] };
type Listed = { engines: EngineView[]; model_servers: OfferedModelServer[] };

/** The engine routes of the core. A refusal is thrown as what a person reads. */
export function createEngineApi(coreUrl: string) {
  const url = `${coreUrl}/v2/engines`;
  const at = (id: string, route = '') => `${url}/${encodeURIComponent(id)}${route}`;
  const change = async (what: string, address: string, method: string, body?: object): Promise<Changed> =>
    orThrow(what, await askCore<Changed>(address, { method, body, timeoutMs }));

  return {
    async all(): Promise<Listed> {
      return orThrow('the engines cannot be listed', await askCore<Listed>(url, { timeoutMs }));
    },
    async list(): Promise<EngineView[]> {
      return (await this.all()).engines;
    },
    async view(id: string): Promise<EngineView> {
      const found = (await this.list()).find((engine) => engine.id === id);
      if (found === undefined) throw new CliError(`there is no engine "${id}".`, { run: './svc engine' });
      return found;
    },
    install: (id: string) => change(`${id} is not installed`, at(id, '/install'), 'POST'),
    refresh: (id: string) => change(`${id} cannot be looked at`, at(id, '/refresh'), 'POST'),
    makeDefault: (id: string) => change(`${id} is not the default`, at(id, '/default'), 'POST'),
    clearDefault: async (): Promise<EngineChoice> =>
      orThrow('nothing was changed', await askCore<{ current: EngineChoice }>(`${url}/default`, { method: 'DELETE', timeoutMs }))
        .current,
    set: (id: string, changes: object) => change('nothing was changed', at(id), 'PATCH', changes),
    putKey: (id: string, value: string) => change('the key was not kept', at(id, '/apikey'), 'PUT', { value }),
    removeKey: (id: string) => change('the key was not removed', at(id, '/apikey'), 'DELETE'),
    setBaseUrl: (id: string, address: string) => change('nothing was changed', at(id, '/base-url'), 'POST', { url: address }),
    /** One real completion; a failure of the engine is a value. */
    test: (id: string): Promise<ServiceAnswer<EngineTest>> =>
      askCore<EngineTest>(at(id, '/test'), { method: 'POST', timeoutMs: testTimeoutMs }),
  };
}

export type EngineApi = ReturnType<typeof createEngineApi>;

function orThrow<T>(what: string, answer: ServiceAnswer<T>): T {
  if (answer.ok) return answer.body;
  const { error, message } = answer.body;
  throw new CliError(`${what}.`, {
    why: message,
    run: error === 'not_found' ? './svc engine' : undefined,
  });
}
