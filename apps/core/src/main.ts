import { findOwnModules } from '@svc/service-kit/own-imports.ts';

findOwnModules();
const [{ runService }, { startCore }] = await Promise.all([import('@svc/service-kit/run-service.ts'), import('./start-core.ts')]);
await runService('core', startCore);
