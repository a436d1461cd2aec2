import { channelPattern } from '@svc/contract/envelope.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Invitations } from './invitations.ts';

const invitationBody = {
  type: 'object',
  additionalProperties: false,
  properties: {
    as: { type: 'string', minLength: 1, maxLength: 256 },
    role: { type: 'string', minLength: 1, maxLength: 64 },
    name: { type: 'string', minLength: 1, maxLength: 80, pattern: '\\S' },
    surface: { type: 'string', pattern: channelPattern },
    expires_at: { type: 'integer', minimum: 0, maximum: 8_640_000_000_000_000 },
  },
} as const;

/** Codes for people who have not written yet. */
export function mountInvitationRoutes(app: App, { invitations }: { invitations: Invitations }): void {
  app.get('/trust/invitations', async () => ({ invitations: await invitations.list() }));

  app.post('/trust/invitations', { schema: { body: invitationBody } }, ({ body, actor }) => invitations.make(actor, body));

  app.delete<{ Params: { id: string } }>('/trust/invitations/:id', async ({ params, actor }) => {
    await invitations.revoke(actor, params.id);
    return { ok: true };
  });
}
