import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { gatewayCalls } from '@svc/device-gateway/calls-list.ts';
import { gatewayFields } from '@svc/device-gateway/config.ts';

/** What this connector is. It is data: nothing here may open, read or start anything. */
export const meta = {
  type: 'mobile',
  displayName: 'Mobile devices',
  supportsMultiple: true,
  capabilities: {
    max_message_chars: 1_000_000,
    supports_markdown: true,
    supports_code_blocks: true,
    supports_attachments_out: true,
    actions: ['file'],
  },
  credentialKeys: [],
  configSchema: { type: 'object', required: [], properties: gatewayFields(3027) },
  outbound: { kinds: ['inject', 'speak'], target: { required: false, label: 'Device' } },
  calls: gatewayCalls,
  webApp: true,
  permissions: { read: ['wake_model', 'app_package'], write: ['keys_file'], sessions: 'every' },
} as const satisfies ConnectorMeta;
