import { defineCommand } from 'longshore';
import { z } from 'zod';

export const outliers = defineCommand({
  key: 'measurements.outliers',
  owner: 'team-data',
  // Checked here, before Python is started.
  params: z.object({ csv: z.string(), column: z.string(), threshold: z.number().optional() }),
  command: ['python3', 'outliers.py'],
  timeoutSeconds: 300,
  memoryMb: 512,
});
