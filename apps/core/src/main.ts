import { runService } from '@svc/service-kit/run-service.ts';
import { startCore } from './start-core.ts';

await runService('core', startCore);
