import type { EngineView, ModelServer, OfferedModelServer } from '@svc/contract/engine.ts';

/** The model servers that were found, each with the one command that has it used. */
export const offerModelServers = (servers: readonly ModelServer[], engines: readonly EngineView[]): OfferedModelServer[] =>
  servers.map((server) => ({ ...server, ...offer(server, engines) }));

function offer(server: ModelServer, engines: readonly EngineView[]): Pick<OfferedModelServer, 'connect' | 'note'> {
  const codex = engines.find(({ id }) => id === 'codex');
  if (!server.responses) return { connect: null, note: `It has no /responses, which codex needs. ${newer}` };
  if (server.models.length === 0) return { connect: null, note: 'It offers no model to talk to.' };
  if (codex?.installed !== true)
    return { connect: './svc engine install codex', note: 'Used through codex, which is not installed.' };
  if (codex.base_url !== server.base_url) return { connect: `./svc engine base-url codex ${server.base_url}`, note: 'Not used.' };
  return codex.default
    ? { connect: null, note: 'Used through codex.' }
    : { connect: './svc engine default codex', note: 'Codex uses it, but another engine answers.' };
}

/** What to do about a server without the Responses protocol. */
export const newer = 'Newer versions of Ollama, LM Studio, llama.cpp and vLLM have it.';
