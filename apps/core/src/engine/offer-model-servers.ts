import type { EngineView, ModelServer, OfferedModelServer } from '@svc/contract/engine.ts';
import { endpointEngine } from '@svc/service-kit/config/engine-traits.ts';
import { openRouter } from './open-router.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The model servers that were found, and OpenRouter if its key is set, each with the command that connects it. */
export const offerModelServers = (
  servers: readonly ModelServer[],
  engines: readonly EngineView[],
  env: Env,
): OfferedModelServer[] => [
  ...servers.map((server) => ({ ...server, ...offer(server, engines) })),
  ...(env[openRouter.keyName] ? [offerOpenRouter(engines)] : []),
];

/** Only its key is checked: nothing is sent there, and it is never used automatically, because it bills every turn. */
function offerOpenRouter(engines: readonly EngineView[]): OfferedModelServer {
  const server = { name: openRouter.name, base_url: openRouter.baseUrl, models: [], responses: true };
  const { connect, note } = useThrough(server, engines);
  const model = engines.find(({ id }) => id === endpointEngine)?.model ?? null;
  const choose = model === null ? ` Choose a model: ./svc engine model ${endpointEngine} MODEL.` : '';
  return { ...server, connect, note: `${note} ${openRouter.keyName} is set, and every turn is billed there.${choose}` };
}

function offer(server: ModelServer, engines: readonly EngineView[]): Pick<OfferedModelServer, 'connect' | 'note'> {
  if (!server.responses) return { connect: null, note: `It has no /responses, which ${endpointEngine} needs. ${newer}` };
  if (server.models.length === 0) return { connect: null, note: 'It offers no chat model.' };
  return useThrough(server, engines);
}

function useThrough(server: ModelServer, engines: readonly EngineView[]): Pick<OfferedModelServer, 'connect' | 'note'> {
  const engine = engines.find(({ id }) => id === endpointEngine);
  if (engine?.installed !== true)
    return { connect: `./svc engine install ${endpointEngine}`, note: `Used through ${endpointEngine}, which is not installed.` };
  if (engine.base_url !== server.base_url)
    return { connect: `./svc engine base-url ${endpointEngine} ${server.base_url}`, note: 'Not used.' };
  return engine.default
    ? { connect: null, note: `Used through ${endpointEngine}.` }
    : {
        connect: `./svc engine default ${endpointEngine}`,
        note: `Used through ${endpointEngine}, but another engine is the default.`,
      };
}

/** What to do about a server without the Responses protocol. */
export const newer = 'Newer versions of Ollama, LM Studio, llama.cpp and vLLM have it.';
