-- The language server of yamlhost in Neovim, from version 0.7 on. `require("yamlhost").setup()` is all that is needed;
-- what can be set: command, trusted (whether :YamlhostPlan may run plugins of the project), on_attach, capabilities.
local M = {}

local defaults = { command = { "yamlhost", "lsp" }, trusted = false }

local function root_of(path)
  local found = vim.fs and vim.fs.find({ "Pulumi.yaml", "Pulumi.yml", "Pulumi.json" }, { path = path, upward = true })[1]
  if found then
    return vim.fn.fnamemodify(found, ":p:h")
  end
  local dir = vim.fn.fnamemodify(path, ":p:h")
  for _, name in ipairs({ "Pulumi.yaml", "Pulumi.yml", "Pulumi.json" }) do
    local up = vim.fn.findfile(name, vim.fn.escape(dir, " ,;") .. ";")
    if up ~= "" then
      return vim.fn.fnamemodify(up, ":p:h")
    end
  end
  return dir
end

local clients = {} -- by root

-- start makes the server answer about a buffer.
function M.start(buffer)
  buffer = buffer or vim.api.nvim_get_current_buf()
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  local id = clients[root]
  if not id or not vim.lsp.get_client_by_id(id) then
    id = vim.lsp.start_client({
      name = "yamlhost", cmd = M.options.command, root_dir = root, capabilities = M.options.capabilities, on_attach = M.options.on_attach,
      init_options = { trusted = M.options.trusted }, get_language_id = function() return "yamlhost" end,
      on_exit = function() clients[root] = nil end,
    })
    clients[root] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
  return id
end

local function show(lines, filetype)
  vim.cmd("botright new")
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.filetype = "nofile", "wipe", false, filetype
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.modifiable = false
end

local function ask(command, done)
  vim.lsp.buf_request(0, "workspace/executeCommand", { command = command, arguments = { vim.uri_from_bufnr(0) } }, function(err, text)
    if err then
      vim.notify(err.message, vim.log.levels.ERROR)
    elseif text then
      done(text)
    end
  end)
end

-- plan shows a preview of the stack that is selected.
function M.plan()
  ask("yamlhost.plan", function(text) show(vim.split(text, "\n"), "diff") end)
end

-- graph writes a picture of the program to a file and says which.
function M.graph(path)
  ask("yamlhost.graph", function(text)
    path = path ~= "" and path or vim.fn.tempname() .. ".svg"
    vim.fn.writefile(vim.split(text, "\n"), path)
    vim.notify(path)
  end)
end

-- indent is the indentation of a line by the line above it: deeper behind a key without a value, else as that line, or
-- as the key behind its dash.
function M.indent()
  local above = vim.fn.prevnonblank(vim.v.lnum - 1)
  local line = vim.fn.getline(above)
  local dashes = line:match("^%s*([%-%s]*)[^%-%s]") or ""
  local deeper = line:match(":%s*$") or line:match(":%s*[|>][+%-]?%s*$")
  return vim.fn.indent(above) + #dashes + (deeper and 2 or 0)
end

local function settings(buffer)
  if vim.api.nvim_buf_is_valid(buffer) then
    local bo = vim.bo[buffer]
    bo.omnifunc, bo.indentexpr, bo.indentkeys = "v:lua.vim.lsp.omnifunc", "v:lua.require'yamlhost'.indent()", "o,O,*<Return>"
    bo.expandtab, bo.shiftwidth, bo.softtabstop = true, 2, 2
  end
end

function M.setup(options)
  M.options = vim.tbl_extend("force", defaults, options or {})
  vim.api.nvim_create_autocmd("FileType", { pattern = "yaml.yamlhost", callback = function(event)
    M.start(event.buf)
    vim.schedule(function() settings(event.buf) end) -- after those of other plugins for YAML
  end })
  vim.api.nvim_create_user_command("YamlhostPlan", M.plan, {})
  vim.api.nvim_create_user_command("YamlhostGraph", function(args) M.graph(args.args) end, { nargs = "?", complete = "file" })
  if vim.bo.filetype == "yaml.yamlhost" then
    M.start()
  end
end

return M
