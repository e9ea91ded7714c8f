import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createLongshore } from 'longshore';
import { thumbnail } from './jobs/thumbnail.ts';
import { encodePng } from './png.ts';

/** Makes a thumbnail of every PNG in a folder; without one, of pictures that it paints first. */

const out = join('tmp', 'thumbnails');
const folder = process.argv[2] ?? (await paintSome(join(out, 'originals')));
const pictures = (await readdir(folder)).filter((name) => name.endsWith('.png'));

const longshore = await createLongshore({
  databaseUrl: process.env['DATABASE_URL'],
  data: '.longshore/examples',
  jobs: new URL('./jobs', import.meta.url).pathname,
  // These jobs write into a folder of this application, so they keep its user, also when that is root.
  runnerUids: 'none',
});
const handles = await longshore.enqueueMany(
  pictures.map((name) => ({
    definition: thumbnail,
    params: { from: join(folder, name), to: join(out, basename(name)) },
  })),
);
for (const [index, handle] of handles.entries()) {
  const { status, result, error } = await handle.wait();
  const summary = result ? `${result.to}, ${result.width} x ${result.height}` : error?.message;
  console.log(`${pictures[index]}: ${status}, ${summary}`);
}
await longshore.stop();

async function paintSome(target: string): Promise<string> {
  await mkdir(target, { recursive: true });
  for (const [name, blue] of [
    ['dawn', 90],
    ['dusk', 200],
  ] as const) {
    const [width, height] = [480, 320];
    const pixels = Uint8Array.from({ length: width * height * 4 }, (_, n) => {
      const [x, y] = [Math.floor(n / 4) % width, Math.floor(n / 4 / width)];
      return [(x * 255) / width, (y * 255) / height, blue, 255][n % 4] ?? 0;
    });
    await writeFile(join(target, `${name}.png`), encodePng({ width, height, pixels }));
  }
  await writeFile(join(target, 'broken.png'), 'this is no picture');
  return target;
}
