// What actions/upload-artifact does with its inputs, by the client that it uses itself.
import fs from 'node:fs'
import path from 'node:path'

const {DefaultArtifactClient} = await import(process.env.STAND_IN_CLIENT)
const input = name => process.env[`INPUT_${name.toUpperCase()}`] ?? ''
const wanted = path.resolve(input('path'))
const folder = fs.existsSync(wanted) && fs.statSync(wanted).isDirectory()
const inside = folder ? fs.readdirSync(wanted, {recursive: true}).map(name => path.join(wanted, name)) : [wanted]
const files = inside.filter(file => fs.existsSync(file) && fs.statSync(file).isFile() && !path.basename(file).startsWith('.'))
if (files.length > 0) {
  const client = new DefaultArtifactClient()
  const raw = input('archive') === 'false'
  const name = raw ? path.basename(files[0]) : input('name')
  if (input('overwrite') === 'true') {
    await client.deleteArtifact(name).catch(error => console.log(`nothing deleted: ${error.message}`))
  }
  const made = await client.uploadArtifact(name, files, folder ? wanted : path.dirname(wanted), {skipArchive: raw})
  const run = `${process.env.GITHUB_SERVER_URL}/${process.env.GITHUB_REPOSITORY}/actions/runs/${process.env.GITHUB_RUN_ID}`
  const outputs = {'artifact-id': made.id, 'artifact-digest': made.digest, 'artifact-url': `${run}/artifacts/${made.id}`}
  fs.appendFileSync(process.env.GITHUB_OUTPUT, Object.entries(outputs).map(([key, value]) => `${key}=${value}\n`).join(''))
  console.log(`uploaded ${name} with GitHub's client: ${files.length} files, ${made.size} B`)
} else if (input('if-no-files-found') === 'error') {
  console.log('::error::no files were found')
  process.exitCode = 1
}
