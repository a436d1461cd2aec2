import type { PersonaView } from '@svc/contract/persona.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CoreContext } from '../context.ts';

/** `GET /v2/persona`: what every engine gets as its system prompt, and where it comes from. */
export function mountPersonaRoutes(app: App, { persona, paths }: Pick<CoreContext, 'persona' | 'paths'>): void {
  app.get('/v2/persona', (): PersonaView => {
    const text = persona.text();
    return { text, bytes: Buffer.byteLength(text), source: persona.source(), file: paths.persona, fault: persona.fault() };
  });
}
