#!/usr/bin/env bash
# Makes echarts.custom.min.js again, from npm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-save --ignore-scripts echarts@6.1.0 esbuild@0.28.2
cp "$here/entry.mjs" .
node_modules/.bin/esbuild entry.mjs --bundle --minify --format=iife --global-name=echarts --target=es2019 \
    --legal-comments=none '--define:process.env.NODE_ENV="production"' --outfile="$here/echarts.custom.min.js"
cp node_modules/echarts/LICENSE node_modules/echarts/NOTICE "$here/"
cp node_modules/zrender/LICENSE "$here/LICENSE.zrender"
