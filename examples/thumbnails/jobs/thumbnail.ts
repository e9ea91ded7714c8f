import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { defineJob, NonRetryable } from 'longshore';
import { z } from 'zod';
import { decodePng, encodePng, NotAPicture, shrink } from '../png.ts';

export const thumbnail = defineJob({
  key: 'image.thumbnail',
  owner: 'team-media',
  params: z.object({ from: z.string(), to: z.string(), width: z.int().min(1).default(160) }),
  timeoutSeconds: 60,
  // A picture that is a bomb takes this process down, and nothing else.
  memoryMb: 512,
  async run({ from, to, width }, ctx) {
    const file = await readFile(from);
    ctx.progress(0.2, 'decoding');
    try {
      const small = shrink(decodePng(file), width);
      ctx.progress(0.8, 'writing');
      // Under another name first: who looks meanwhile sees no half of a picture.
      await mkdir(dirname(to), { recursive: true });
      await writeFile(`${to}.part`, encodePng(small));
      await rename(`${to}.part`, to);
      return { to, width: small.width, height: small.height };
    } catch (error) {
      // Trying again makes no picture of it.
      if (error instanceof NotAPicture) throw new NonRetryable(error.message, { cause: error });
      throw error;
    }
  },
});
