import type { PersonaView } from '@svc/contract/persona.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Persona } from './persona.ts';

/** `GET /v2/persona`: what every engine gets as its system prompt, and where it comes from. */
export function mountPersonaRoutes(app: App, { persona, paths }: { persona: Persona; paths: DataPaths }): void {
  app.get('/v2/persona', (): PersonaView => {
    const text = persona.text();
    return { text, bytes: Buffer.byteLength(text), source: persona.source(), file: paths.persona, fault: persona.fault() };
  });
}
