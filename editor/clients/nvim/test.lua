-- Drives Neovim without a screen against the program that YAMLHOST_BINARY names: `nvim --headless -u NONE -l` is newer than
-- Debian's Neovim, hence luafile. It ends with the exit code 1 and says why when something is not as it should be.
local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local folder = vim.env.YAMLHOST_PROJECT
local shown = {}

local function say(text)
  table.insert(shown, text)
end

local function expect(condition, what)
  if not condition then
    error("not so: " .. what)
  end
end

local function wait(what, condition)
  if not vim.wait(60000, condition, 20) then
    error("waited for " .. what)
  end
end

local function find(word, by)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local at = line:find(word, 1, true)
    if at then
      vim.api.nvim_win_set_cursor(0, { i, at - 1 + (by or 0) })
      return
    end
  end
  error(word .. " is not in the buffer")
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

local function request(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params or vim.lsp.util.make_position_params(), 20000)
  expect(answers, method .. " is answered")
  for _, answer in pairs(answers) do
    expect(not answer.err, method .. " fails: " .. vim.inspect(answer.err))
    return answer.result
  end
end

local function drive()
  vim.opt.runtimepath:prepend(here)
  vim.cmd("filetype on")
  vim.cmd("source " .. here .. "/ftdetect/yamlhost.lua")
  require("yamlhost").setup({ command = { vim.env.YAMLHOST_BINARY, "lsp" }, trusted = true })
  vim.cmd("edit " .. folder .. "/Pulumi.yaml")
  expect(vim.bo.filetype == "yaml.yamlhost", "the file type is " .. vim.bo.filetype)
  wait("the server", function() local c = vim.lsp.get_active_clients()[1] return c and c.initialized end)
  wait("findings", function() return #vim.diagnostic.get(0) == 1 end)
  local finding = vim.diagnostic.get(0)[1]
  say("finding " .. finding.code .. " at " .. finding.lnum + 1 .. ":" .. finding.col + 1 .. ": " .. finding.message:match("[^\n]+"))

  find("${pot.id}", 3)
  local at = vim.lsp.util.make_range_params()
  at.context = { diagnostics = {}, only = { "quickfix" } }
  local fix = request("textDocument/codeAction", at)[1]
  say("fix: " .. fix.title)
  vim.lsp.util.apply_workspace_edit(fix.edit, "utf-16")
  wait("the finding to go", function() return #vim.diagnostic.get(0) == 0 end)

  find("random:RandomPet", 8)
  say("hover: " .. request("textDocument/hover").contents.value:match("\n([^\n]+)"))
  find("${pet.id}", 6)
  local labels = {}
  for _, item in ipairs(request("textDocument/completion").items) do
    table.insert(labels, item.label)
  end
  say("completion behind ${pet.: " .. table.concat(labels, " "))
  find("${pet.id}", 3)
  say("definition: line " .. request("textDocument/definition")[1].range.start.line + 1)

  local params = vim.lsp.util.make_position_params()
  params.newName = "animal"
  vim.lsp.util.apply_workspace_edit(request("textDocument/rename", params), "utf-16")
  expect(text():find("prefix: ${animal.id}", 1, true), "the use is renamed")
  expect(text():find("aliases: [{name: pet}]", 1, true), "an alias keeps the state")
  say("renamed:\n" .. text())

  vim.api.nvim_buf_set_lines(0, 0, 1, false, { "name:    sample   " })
  vim.lsp.util.apply_text_edits(request("textDocument/formatting", vim.lsp.util.make_formatting_params()), 0, "utf-16")
  expect(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == "name: sample", "the text is formatted")

  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("gg/animal:<CR>oproperties:<CR>length: 3<CR>keepers: {}", true, false, true), "xt", false)
  expect(text():find("\n    properties:\n      length: 3\n      keepers: {}\n    type:"), "lines are indented: " .. text())
  say("typed:\n" .. table.concat(vim.api.nvim_buf_get_lines(0, 3, 8, false), "\n"))
  vim.cmd("write")
  vim.cmd("YamlhostGraph " .. folder .. "/graph.svg")
  wait("the graph", function() return vim.fn.filereadable(folder .. "/graph.svg") == 1 end)
  vim.cmd("YamlhostPlan")
  wait("the plan", function() return vim.bo.filetype == "diff" end)
  expect(text():find("animal"), "the plan names the resource: " .. text())
  say("plan:\n" .. text())
end

local ok, fault = pcall(drive)
io.stdout:write(table.concat(shown, "\n") .. "\n")
if not ok then
  io.stdout:write("FAILED: " .. tostring(fault) .. "\n")
end
vim.cmd(ok and "qall!" or "cquit! 1")
